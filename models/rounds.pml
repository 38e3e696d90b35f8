/* How the blocks of all PEs meet between two rounds of a discrete run on GPUs (worklist/rounds_gpu.cuh).
 *
 * Each block runs a round and then arrives. The last block of a PE to arrive knows the PE's next round. On the first PE it waits for
 * the other PEs, decides whether there is a next round, and tells them; then each PE's last block tells its own blocks. What is told
 * has a lowest bit that changes with every round. Somebody may end the run at any time: the state of one PE after the other is set
 * (-DENDS). Whoever waits leaves then.
 * Claims: a block begins a round only after all blocks of all PEs have finished the one before (assertions); no block waits forever
 * (waits block, so a deadlock is an invalid end state); unless the run is ended, all blocks run all rounds.
 *
 * -DBUG=1 a last block, which waits for other PEs, does not look at the state
 *       2 the first PE does not wait for the others
 *       3 a block takes any change since it arrived, instead of since before it arrived
 *       4 arrivals are counted anew only after the next round was told
 *       5 the other PEs are told before the decision
 *       6 what is told does not change if the decision does not
 */
#ifndef PES
#define PES 2
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef BUG
#define BUG 0
#endif
#define ALL (PES * BLOCKS)
#define OVER 2                                     /* in a word: there is no next round; its lowest bit is the round's */
#if BUG==6
#define AFTER(before, over) (1 + (over))
#else
#define AFTER(before, over) (((before) & 1) ^ 1) + (over)
#endif
#define CHANGED(word, before) ((((word) ^ (before)) & 1) != 0)
#if BUG==1
#define LAST_LEAVES(p) false
#else
#define LAST_LEAVES(p) state[p]
#endif

byte arrived[PES], next[PES], told[PES], pes;
bool state[PES];
byte rounds[ALL];                                  /* rounds that each block has finished */
byte decided;                                      /* rounds that the first PE has ended */
bool ended;                                        /* somebody has begun to end the run */

proctype block(byte p; byte me) {
  byte before, word, i;
  bool last;
  do
  :: d_step {
       i = 0;
       do
       :: i < ALL -> assert(rounds[i] >= rounds[me]); i++
       :: else -> break
       od;
       i = 0
     }
     rounds[me]++;
#if BUG!=3
     before = next[p];
#endif
     atomic { arrived[p]++; last = arrived[p] == BLOCKS }
#if BUG==3
     before = next[p];
#endif
     if
     :: last ->
#if BUG!=4
        arrived[p] = 0;
#endif
        if
        :: p != 0 ->
           pes++;
           if
           :: CHANGED(told[p], before) -> word = told[p]
           :: LAST_LEAVES(p) -> word = AFTER(before, OVER)
           fi
        :: else ->
#if BUG!=2
           if
           :: pes == PES - 1
           :: LAST_LEAVES(0)
           fi;
#endif
           pes = 0;
#if BUG==5
           i = 1;
           do
           :: i < PES -> told[i] = AFTER(before, 0); i++
           :: else -> break
           od;
#endif
           decided++;
           word = AFTER(before, ((state[0] || decided == ROUNDS) -> OVER : 0));
#if BUG!=5
           i = 1;
           do
           :: i < PES -> told[i] = word; i++
           :: else -> break
           od
#endif
        fi;
        next[p] = word;
#if BUG==4
        arrived[p] = 0
#endif
     :: else
     fi;
     if
     :: CHANGED(next[p], before) -> word = next[p]
     :: state[p] -> word = OVER
     fi;
     if
     :: word >= OVER -> break
     :: else
     fi
  od;
  assert(ended || rounds[me] == ROUNDS)
}

proctype ends() {
  byte i;
  if
  :: ended = true;
     do
     :: i < PES -> state[i] = true; i++
     :: else -> break
     od
  :: skip                                          /* or never */
  fi
}

init {
  byte i;
  atomic {
    do
    :: i < ALL -> run block(i / BLOCKS, i); i++
    :: else -> break
    od;
#ifdef ENDS
    run ends()
#endif
  }
}
