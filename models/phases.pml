/* Phases (include/shoal/worklist/phases.hpp, queue/buckets.hpp): priorities with one threshold for all PEs, and sweeps.
 *
 * N PEs with W workers each. Running an item may push more, to any PE and with any bucket 0 to B, until BUDGET pushes are spent.
 * The worker that judges an item parks it if its bucket is beyond the worker's `near`, in list bucket % L, and adds the bucket to
 * `told`, unless it has parked an item of that list with the same or a nearer bucket. `told` is a minimum per list and PE. An item
 * may reach another PE before the phase in which it was pushed does. Worker 0 of PE 0, when it finds `completed` (read first) equal
 * to `created`, takes the nearest bucket that may be parked as the new threshold, resets the entries of `told` that it passes,
 * creates one token per worker, and shows the phase to one PE after another. Every worker unparks the lists that the threshold
 * passed, and completes its token. -DSWEEP: running an item may also raise a flag of its PE (accept refused an item). When nothing
 * is parked, every worker checks its flag, and either makes an item of it or passes it on to the flag of worker 0. The run is over
 * when the last check of all workers pushed nothing.
 * Claim: `done` is announced only when no item and no flag is left anywhere (`left`, the truth). -DLIVE: it is announced in the end
 * (weak fairness).
 * Left out: reading the counters one by one (quiescence.pml), and the slot for all buckets that are far beyond (tests/sim).
 *
 * -DBUG=1 tokens are not created             2 a token is completed before the lists are unparked
 *       3 a late entry of `told` hides the rest of its list   4 an item is completed before what it parked is in `told`
 *       5 a push that is refused in a sweep is not counted      6 one sweep is enough
 *       7 only one worker of each PE carries out a phase        8 `told` is reset after the phase is shown
 */
#ifndef N
#define N 2
#endif
#ifndef W
#define W 1
#endif
#ifndef B
#define B 3
#endif
#ifndef L
#define L 2
#endif
#ifndef BUDGET
#define BUDGET 3
#endif
#ifndef BUG
#define BUG 0
#endif
#define NONE 255
#define TOKENS (BUG == 7 -> N : N*W)

byte ring[N], in_flight[N*(B+1)], told[N*L];     /* in_flight: the items on their way to a PE, by bucket */
bool flag[N*W];
byte created = 1, completed, left = 1, budget = BUDGET;
byte shown[N], near_now, number;                 /* the phase that PE q sees; threshold and number of the last phase */
bool sweep_now, done;

/* The nearest bucket that may be parked in list s whose entry of `told` is t. */
#if BUG==3
#define MAY_BE(t, s) ((t == NONE || t <= near_now) -> NONE : t)
#else
#define MAY_BE(t, s) (t == NONE -> NONE : (t > near_now -> t : near_now + 1 + (s + L*(B+1) - (near_now + 1)) % L))
#endif

#ifdef LIVE                                      /* a worker that could take an item does not check for the end forever */
#define IDLE (in_flight[me*(B+1)] + in_flight[me*(B+1) + 1] + in_flight[me*(B+1) + 2] + in_flight[me*(B+1) + B] == 0)
#else
#define IDLE true
#endif

inline tell(b) { if :: told[me*L + b % L] > b -> told[me*L + b % L] = b :: else fi }
inline keep(b) {                                 /* judges an item: it may run now, or is parked */
  if
  :: b <= near -> created++; ring[me]++
  :: else ->
     d_step {                                    /* has this list an item of the same or a nearer bucket? */
       news = true; k = b % L;
       do :: k <= b -> if :: parked[k] > 0 -> news = false :: else fi; k = k + L :: else -> break od;
       parked[b]++; k = 0
     }
#if BUG==4
     if :: news -> atomic { completed = completed + 1; owed = true } :: else fi;
#endif
     if :: news -> d_step { tell(b); news = false } :: else fi
  fi
}
inline choose(b) { if :: b = 0 :: b = 1 :: b = 2 :: B > 2 -> b = B fi }

proctype Worker(byte me, index; bool looks) {
  byte parked[B+1], near, seen, finished, before, b, k, to, c, least;
  bool news, owed, swept;
  byte mark;
  do
  :: done -> break
  :: atomic { !done && c == 0 && ring[me] > 0 -> ring[me]-- };            /* run one */
     do
     :: atomic { budget > 0 -> budget--; left++ }; choose(b);
        if
        :: keep(b)
        :: N > 1 -> to = (me + 1) % N; created++; in_flight[to*(B+1) + b]++
        fi
#ifdef SWEEP
     :: atomic { budget > 0 && !flag[me*W + W - 1] -> budget--; left++; flag[me*W + W - 1] = true }
     :: atomic { budget > 0 && !flag[me*W] -> budget--; left++; flag[me*W] = true }
#endif
     :: break
     od;
     b = 0; to = 0;
     atomic { left--; if :: owed -> owed = false :: else -> finished++ fi }
  :: atomic { !done && c == 0 && in_flight[me*(B+1)] > 0 -> in_flight[me*(B+1)]--; b = 0; c = 1 }
  :: atomic { !done && c == 0 && in_flight[me*(B+1) + 1] > 0 -> in_flight[me*(B+1) + 1]--; b = 1; c = 1 }
  :: atomic { !done && c == 0 && in_flight[me*(B+1) + 2] > 0 -> in_flight[me*(B+1) + 2]--; b = 2; c = 1 }
  :: atomic { !done && c == 0 && in_flight[me*(B+1) + B] > 0 -> in_flight[me*(B+1) + B]--; b = B; c = 1 }
  :: c == 1 -> keep(b); atomic { b = 0; c = 0; if :: owed -> owed = false :: else -> finished++ fi }
  :: !done && c == 0 && seen != shown[me] ->                     /* carries out a phase */
     before = near; near = near_now; seen = shown[me];
#if BUG==2
     completed = completed + 1;
#endif
     b = before + 1;
     do
     :: b <= near && b <= before + L ->                          /* the threshold passed list b % L: unpark it */
        to = b % L;
        do
        :: to <= B ->
           if
           :: parked[to] > 0 && to <= near ->
              created = created + parked[to]; atomic { ring[me] = ring[me] + parked[to]; parked[to] = 0 }
           :: parked[to] > 0 && to > near -> d_step { tell(to) }
           :: else
           fi;
           to = to + L
        :: else -> break
        od;
        b++
     :: else -> break
     od;
     b = 0; to = 0; before = 0;
#ifdef SWEEP
     if
     :: sweep_now && flag[me*W + index] ->
        flag[me*W + index] = false;
        if
        :: choose(b); keep(b); b = 0
        :: index > 0 ->                                          /* accept refuses it: raise worker 0's flag, checked or not */
           atomic { if :: flag[me*W] -> left-- :: else -> flag[me*W] = true fi }
#if BUG!=5
           created++; finished++
#endif
        fi
     :: else
     fi;
#endif
#if BUG!=2
#if BUG==7
     if :: index == 0 -> finished++ :: else fi
#else
     finished++
#endif
#endif
  :: atomic { !done && c == 0 && finished > 0 && ring[me] == 0 -> completed = completed + finished; finished = 0 }
  :: looks && !done && c == 0 && finished == 0 && ring[me] == 0 && seen == shown[me] && IDLE ->
     k = completed;
     if
     :: atomic { k == created -> k = 0 };
        d_step {                                                 /* `told` is read in one step, because nothing moves now */
          least = NONE; to = 0;
          do
          :: to < N*L ->
             if :: MAY_BE(told[to], to % L) < least -> least = MAY_BE(told[to], to % L) :: else fi;
             to++
          :: else -> break
          od;
          to = 0
        };
        if
#ifdef SWEEP
#if BUG==6
        :: least == NONE && !swept ->
#else
        :: least == NONE && (!swept || mark != created) ->
#endif
           sweep_now = true; swept = true; mark = created + N*W; least = near_now
        :: least == NONE && swept && (BUG == 6 || mark == created) -> atomic { assert(left == 0); done = true; least = 0 }
#else
        :: least == NONE -> atomic { assert(left == 0); done = true; least = 0 }
#endif
        :: least != NONE -> sweep_now = false
        fi;
        if
        :: done
        :: else ->
#if BUG!=8
           d_step {
             do
             :: to < N*L -> if :: MAY_BE(told[to], to % L) <= least -> told[to] = NONE :: else fi; to++
             :: else -> break
             od;
             to = 0; near_now = least; number++
           };
#else
           near_now = least; number++;
#endif
#if BUG!=1
           created = created + TOKENS;
#endif
           do :: to < N -> shown[to] = number; to++ :: else -> break od;
           to = 0;
#if BUG==8
           do
           :: to < N*L -> if :: told[to] <= near_now -> told[to] = NONE :: else fi; to++
           :: else -> break
           od;
           to = 0;
#endif
           least = 0
        fi
     :: else -> k = 0
     fi
  od
}

init {
  byte k, j;
  atomic {
    ring[0] = 1;                                 /* the run begins with one item, on PE 0 */
    do :: k < N*L -> told[k] = NONE; k++ :: else -> break od;
    k = 0;
    do
    :: k < N -> j = 0; do :: j < W -> run Worker(k, j, k == 0 && j == 0); j++ :: else -> break od; k++
    :: else -> break
    od;
    k = 0; j = 0
  }
}

#ifdef LIVE
ltl ends { <> done }
#endif
