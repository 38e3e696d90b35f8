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
 * -DEARLY: worker 0 may also move the threshold while items are left (View::overlap), once every worker has unparked what the last phase
 * reached (`carried`) and something may be parked. It then reads and resets the entries of `told` one by one, as items are parked
 * meanwhile.
 * -DTURNS: there are no lists, only the two slots that are used in turns (Atos's pair of queues). Every phase changes the turn; then every
 * worker empties the slot of the last turn, and parks in the other one what the threshold has not reached. Not with -DSWEEP, as a sweep
 * does not change the turn.
 * Claim: `done` is announced only when no item and no flag is left anywhere (`left`, the truth). -DLIVE: it is announced in the end
 * (weak fairness).
 * Left out: reading the counters one by one (quiescence.pml), and lists together with the two slots (tests/sim).
 *
 * -DBUG=1 tokens are not created             2 a token is completed before the lists are unparked
 *       3 a late entry of `told` hides the rest of its list   4 an item is completed before what it parked is in `told`
 *       5 a push that is refused in a sweep is not counted      6 one sweep is enough
 *       7 only one worker of each PE carries out a phase        8 `told` is reset after the phase is shown
 *       9 -DEARLY: the run is over if nothing may be parked
 *      10 -DEARLY -DTURNS: does not wait until all workers have unparked      11 a part is `carried` before the lists are unparked
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
#ifdef TURNS
#define L 2
#define SLOTS 2
#endif
#ifndef L
#define L 2
#endif
#ifndef SLOTS
#define SLOTS 1
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
byte carried;                                    /* parts of phases that were carried out */
byte shown[N], near_at[N], near_now, number;     /* the phase that PE q sees; threshold and number of the last phase */
bit turn_at[N], turn_now;                        /* -DTURNS: the slot in which is parked */
bool sweep_now, done;

/* The nearest bucket that may be parked in list s whose entry of `told` is t. */
#ifdef TURNS
#define MAY_BE(t, s) (s == turn_now -> t : NONE)
#elif BUG==3
#define MAY_BE(t, s) ((t == NONE || t <= near_now) -> NONE : t)
#else
#define MAY_BE(t, s) (t == NONE -> NONE : (t > near_now -> t : near_now + 1 + (s + L*(B+1) - (near_now + 1)) % L))
#endif

#ifdef LIVE                                      /* a worker that could take an item does not check for the end forever */
#define IDLE (in_flight[me*(B+1)] + in_flight[me*(B+1) + 1] + in_flight[me*(B+1) + 2] + in_flight[me*(B+1) + B] == 0)
#else
#define IDLE true
#endif

#ifdef TURNS
#define LIST(b) turn
#define PLACE(b) (turn*(B+1) + (b))
#define SPENT(t, s, threshold) true
#else
#define LIST(b) ((b) % L)
#define PLACE(b) (b)
#define SPENT(t, s, threshold) (MAY_BE(t, s) <= threshold)
#endif
inline tell(b) { if :: told[me*L + LIST(b)] > b -> told[me*L + LIST(b)] = b :: else fi }
inline keep(b) {                                 /* judges an item: it may run now, or is parked */
  if
  :: b <= near -> created++; ring[me]++
  :: else ->
     d_step {                                    /* has this list an item of the same or a nearer bucket? */
       news = true;
#ifdef TURNS
       k = 0;
       do :: k <= b -> if :: parked[PLACE(k)] > 0 -> news = false :: else fi; k++ :: else -> break od;
#else
       k = b % L;
       do :: k <= b -> if :: parked[k] > 0 -> news = false :: else fi; k = k + L :: else -> break od;
#endif
       parked[PLACE(b)]++; k = 0
     }
#if BUG==4
     if :: news -> atomic { completed = completed + 1; owed = true } :: else fi;
#endif
     if :: news -> d_step { tell(b); news = false } :: else fi
  fi
}
inline announce(q) { d_step { shown[q] = number; near_at[q] = near_now; turn_at[q] = turn_now } }
inline choose(b) { if :: b = 0 :: b = 1 :: b = 2 :: B > 2 -> b = B fi }

proctype Worker(byte me, index; bool looks) {
  byte parked[SLOTS*(B+1)], near, seen, finished, before, b, k, to, c, least;
  bool news, owed, swept;
  bit turn;
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
     d_step { before = near; near = near_at[me]; seen = shown[me] };
#if BUG==2
     completed = completed + 1;
#endif
#if BUG==11
     carried++;
#endif
#ifdef TURNS
     if
     :: turn != turn_at[me] ->                                   /* empties the slot of the last turn */
        turn = 1 - turn;
        b = 0;
        do
        :: b <= B ->
           k = parked[(1 - turn)*(B+1) + b];
           if
           :: k > 0 && b <= near -> created = created + k; atomic { ring[me] = ring[me] + k; parked[(1 - turn)*(B+1) + b] = 0 }
           :: k > 0 && b > near -> d_step { parked[PLACE(b)] = parked[PLACE(b)] + k; parked[(1 - turn)*(B+1) + b] = 0; tell(b) }
           :: else
           fi;
           k = 0; b++
        :: else -> break
        od
     :: else
     fi;
#else
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
#endif
     b = 0; to = 0; before = 0;
#if defined(EARLY) && BUG!=11
     carried++;
#endif
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
             :: to < N*L -> if :: SPENT(told[to], to % L, least) -> told[to] = NONE :: else fi; to++
             :: else -> break
             od;
             to = 0; near_now = least; turn_now = 1 - turn_now; number++
           };
#else
           near_now = least; turn_now = 1 - turn_now; number++;
#endif
#if BUG!=1
           created = created + TOKENS;
#endif
           do :: to < N -> announce(to); to++ :: else -> break od;
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
#ifdef EARLY
     :: atomic { k != created && (BUG == 10 || carried == N*W*number) -> k = 0; least = NONE };
        do
        :: to < N*L ->
           d_step { k = told[to]; if :: MAY_BE(k, to % L) < least -> least = MAY_BE(k, to % L) :: else fi; k = 0; to++ }
        :: else -> to = 0; break
        od;
        if
#if BUG==9
        :: least == NONE -> atomic { assert(left == 0); done = true; least = 0 }
#else
        :: least == NONE -> least = 0
#endif
        :: else ->
           sweep_now = false;
           do
           :: to < N*L ->
              k = told[to];
              if :: k != NONE && SPENT(k, to % L, least) -> told[to] = NONE :: else fi;
              d_step { k = 0; to++ }
           :: else -> to = 0; break
           od;
           near_now = least; turn_now = 1 - turn_now; number++;
           created = created + TOKENS;
           do :: to < N -> announce(to); to++ :: else -> to = 0; break od;
           least = 0
        fi
#endif
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
