/* A full queue is not an error: PEs that send to each other through bounded channels (worklist/pe_worklist.hpp), one worker each.
 *
 * N PEs; an item of depth d > 0 pushes FAN items of depth d-1 to any PE, including its own. POL says what a worker does with an
 * item for which there is no space:
 *   1 it waits                                   2 it waits, but keeps receiving into a stash of STASH items
 *   3 (shipped) it keeps the item in its own spill. Spilled items are sent, or run, when the worker has nothing else to do.
 *   4 it starts an item only when there is space for all items that it may push
 * Claims for POL 3: no deadlock (waits block, so a deadlock is an invalid end state), and every item is run.
 */
#ifndef N
#define N 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef FAN
#define FAN 2
#endif
#ifndef DEPTH
#define DEPTH 3
#endif
#ifndef STASH
#define STASH 1
#endif
#ifndef POL
#define POL 3
#endif
#define Q(from, to) q[(from)*N+(to)]      /* q[p*N+p] is PE p's ring */
#if N==2
#define ROOM_FOR_ALL (len(Q(me, 0)) + FAN <= CAP && len(Q(me, 1)) + FAN <= CAP)
#else
#define ROOM_FOR_ALL (len(Q(me, 0)) + FAN <= CAP && len(Q(me, 1)) + FAN <= CAP && len(Q(me, 2)) + FAN <= CAP)
#endif
#if POL==4
#define MAY_START ROOM_FOR_ALL
#else
#define MAY_START true
#endif

chan q[N*N] = [CAP] of { byte };          /* channel.pml and ring.pml model these queues exactly; here they only have to fill up */
byte outstanding = 1, gone;

#define TAKE(from) :: atomic { !has && MAY_START && nempty(Q(from, me)) -> Q(from, me)?d; has = true }
#define STOW(from) :: atomic { full(Q(me, to)) && s < STASH && nempty(Q(from, me)) -> Q(from, me)?x; stash[x]++; s++; x = 0 }

proctype Pe(byte me) {
  byte d, k, to, s, x;
  byte kept[DEPTH*N];                     /* POL 3: spilled items, by depth and destination */
  byte stash[DEPTH];                      /* POL 2 */
  bool has;
  do
  :: !has && outstanding == 0 -> break
  TAKE(0) TAKE(1)
#if N > 2
  TAKE(2)
#endif
#if POL==2
  :: atomic { !has && s > 0 -> d = 0; do :: stash[d] == 0 -> d++ :: else -> break od; stash[d]--; s--; has = true }
#elif POL==3
#define UNSPILL(i) :: atomic { kept[i] > 0 && nfull(Q(me, (i) % N)) -> Q(me, (i) % N)!((i) / N); kept[i]--; s-- } \
                   :: atomic { kept[i] > 0 && (i) % N == me && full(Q(me, me)) -> d = (i) / N; kept[i]--; s--; has = true }
  :: !has && s > 0 ->
     if
     UNSPILL(0) UNSPILL(1)
#if DEPTH*N > 2
     UNSPILL(2) UNSPILL(3)
#endif
#if DEPTH*N > 4
     UNSPILL(4) UNSPILL(5)
#endif
#if DEPTH*N > 6
#error "unspill knows DEPTH*N up to 6"
#endif
     :: nempty(Q(0, me))                  /* no spilled item can move: go on if something can be received */
     :: nempty(Q(1, me))
#if N > 2
     :: nempty(Q(2, me))
#endif
     fi
#endif
  :: has ->
     do
     :: d > 0 && k < FAN ->
        outstanding++;
        if :: to = 0 :: to = 1
#if N > 2
           :: to = 2
#endif
        fi;
#if POL==1 || POL==4
        Q(me, to)!(d-1);
#elif POL==2
        do
        :: atomic { nfull(Q(me, to)) -> Q(me, to)!(d-1); break }
        STOW(0) STOW(1)
        od;
#else
        atomic { if :: nfull(Q(me, to)) -> Q(me, to)!(d-1)
                    :: full(Q(me, to)) -> kept[(d-1)*N + to]++; s++ fi };
#endif
        atomic { k++; to = 0 }
     :: else -> break
     od;
     atomic { outstanding--; d = 0; k = 0; has = false }
  od;
  assert(s == 0);
  gone++
}

init {
  byte k;
  atomic { Q(0, 0)!DEPTH; k = 0; do :: k < N -> run Pe(k); k++ :: else -> break od; k = 0 };
  (gone == N)
}
