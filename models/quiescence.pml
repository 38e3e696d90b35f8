/* Detection of the end of a run by counting (include/shoal/worklist/quiescence.hpp, schedule.hpp).
 *
 * N PEs with W workers each. Running an item may push more, to any PE, until BUDGET pushes are spent. A push to the own ring
 * waits in the worker's buffer, where it is neither counted nor visible to others. The worker flushes the buffer before it counts
 * its item as finished. To flush an item, it counts a ticket (tail) and then makes the item visible; or, if there is no space, it
 * counts the item as entered and keeps it in its spill. A push to another PE counts the channel's tail and then makes the item
 * visible. A worker adds its finished items to `completed` when it finds nothing to do. Worker 0 of PE 0, when idle, reads
 * `completed` of all PEs, then all counters of created items (tails and entered), one by one.
 * Claim: it announces `done` only when no item is left anywhere (`left`, the truth). -DLIVE: it announces it in the end (weak
 * fairness).
 *
 * -DBUG=1 created is read before completed       2 completed and created are read together, PE by PE
 *       3 an item counts before its flush        4 a ticket is counted after the item can be seen
 *       5 channels are not counted               6 spilled items are not counted
 *       7 votes instead of counters: done when every worker has found nothing to do once since it last worked
 */
#ifndef N
#define N 2
#endif
#ifndef W
#define W 1
#endif
#ifndef BUDGET
#define BUDGET 3
#endif
#ifndef BUG
#define BUG 0
#endif

byte ring[N], chan_[N*N];                      /* how many items are visible */
byte tail[N], ctail[N*N], entered[N], completed[N];
byte budget = BUDGET, left = 1, votes;
bool done;

#ifdef LIVE                                     /* a worker that could take an item does not rest forever */
#if N==2
#define IDLE (ring[me] == 0 && chan_[((me+1)%N)*N+me] == 0)
#else
#define IDLE (ring[me] == 0 && chan_[((me+1)%N)*N+me] == 0 && chan_[((me+2)%N)*N+me] == 0)
#endif
#else
#define IDLE true
#endif

inline show_ring() {
#if BUG==4
  ring[me]++; tail[me]++
#else
  tail[me]++; ring[me]++
#endif
}
inline show_channel() {
#if BUG==4
  chan_[me*N+to]++; ctail[me*N+to]++
#else
  ctail[me*N+to]++; chan_[me*N+to]++
#endif
}
inline flush() {
  do
  :: buffered > 0 ->
     if
     :: show_ring()
     :: atomic {                                /* no space: the spill is private, so counting and keeping appear as one step */
#if BUG!=6
          entered[me]++;
#endif
          spill++ }
     fi;
     buffered--
  :: else -> break
  od
}

proctype Worker(byte me; bool looks) {
  byte buffered, spill, finished, to, i, from;
  short c;
  bool voted;
  do
  :: done -> break
  :: atomic { !done && from == 0 && ring[me] > 0 -> ring[me]--; from = 1 }
  :: atomic { !done && from == 0 && chan_[((me+1)%N)*N+me] > 0 -> chan_[((me+1)%N)*N+me]--; from = 1 }
#if N > 2
  :: atomic { !done && from == 0 && chan_[((me+2)%N)*N+me] > 0 -> chan_[((me+2)%N)*N+me]--; from = 1 }
#endif
  :: atomic { !done && from == 0 && ring[me] == 0 && spill > 0 -> spill--; from = 1 }
  :: from == 1 ->
     from = 0;
#if BUG==7
     if :: voted -> atomic { votes--; voted = false } :: else fi;
#endif
     do
     :: atomic { budget > 0 -> budget--; left++ };
        if
        :: buffered++
        :: to = (me + 1) % N; show_channel(); to = 0
#if N > 2
        :: to = (me + 2) % N; show_channel(); to = 0
#endif
        fi
     :: break
     od;
#if BUG==3
     atomic { finished++; completed[me] = completed[me] + finished; finished = 0 };
     flush();
     left--
#else
     flush();
     atomic { finished++; left-- }
#endif
  :: !done && from == 0 && spill == 0 && IDLE -> /* found nothing: report finished items, and check for the end */
     if :: finished > 0 -> atomic { completed[me] = completed[me] + finished; finished = 0 } :: else fi;
#if BUG==7
     if :: !voted -> atomic { votes++; voted = true } :: else fi;
#endif
     if
     :: looks ->
#if BUG==7
        if :: votes == N*W -> atomic { assert(left == 0); done = true } :: else fi
#else
#if BUG!=1 && BUG!=2
        do :: i < N -> c = c + completed[i]; i++ :: else -> break od;
        i = 0;
#endif
        do
        :: i < N ->
#if BUG==2
           c = c + completed[i];
#endif
           c = c - tail[i];
           c = c - entered[i];
#if BUG!=5
           c = c - ctail[i*N+(i+1)%N];
#if N > 2
           c = c - ctail[i*N+(i+2)%N];
#endif
#endif
           i++
        :: else -> break
        od;
        i = 0;
#if BUG==1
        do :: i < N -> c = c + completed[i]; i++ :: else -> break od;
        i = 0;
#endif
        if
        :: c == 0 -> atomic { assert(left == 0); done = true }
        :: else
        fi;
        c = 0
#endif
     :: else
     fi
  od
}

init {
  byte k, j;
  atomic {
    ring[0] = 1; tail[0] = 1;                   /* the run begins with one item, on PE 0 */
    k = 0;
    do
    :: k < N -> j = 0; do :: j < W -> run Worker(k, k == 0 && j == 0); j++ :: else -> break od; k++
    :: else -> break
    od;
    k = 0; j = 0
  }
}

#ifdef LIVE
ltl ends { <> done }
#endif
