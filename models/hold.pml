/* Workers that push to and pop from one ring, with private credits and spill (worklist/schedule.hpp, worklist/pe_worklist.hpp). One
 * PE.
 *
 * W workers run a tree of items: an item of depth d > 0 pushes FAN items of depth d-1. A worker holds one ticket (default) or
 * claims one (-DCLAIM). Each popped value leaves its worker a private credit. A push takes a private credit first, then a shared
 * one; an item that gets no credit is spilled. A spilled item is moved to the ring if there is a credit, and run at once if there
 * is none. An idle worker gives its private credits back. While a worker waits for the slot to push into, it polls the slot of its
 * held ticket and empties it.
 * Claims: no worker waits forever (waits block, so a deadlock is an invalid end state), and every item is run once.
 *
 * -DBUG=1 a waiting worker does not poll its held ticket  2 no spill: a worker waits for a credit
 *       3 tickets are taken without credits               4 spilled items are dropped
 */
#ifndef W
#define W 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef FAN
#define FAN 2
#endif
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef BUG
#define BUG 0
#endif
#define SL(t) ((t) % CAP)
#if FAN==1
#define TOTAL (DEPTH+1)
#elif DEPTH==1
#define TOTAL (1+FAN)
#elif DEPTH==2
#define TOTAL (1+FAN+FAN*FAN)
#else
#define TOTAL (1+FAN+FAN*FAN+FAN*FAN*FAN)
#endif

byte slot[CAP];
byte seq_[CAP];
byte tail, head, outstanding, gone, ran;
short credits = CAP;

inline poll() {                                    /* takes the value from the held slot, if there is one */
  if
  :: atomic { holds && seq_[SL(mine)] == mine + 1 -> has = slot[SL(mine)] };   /* has: depth + 1 */
     seq_[SL(mine)] = mine + CAP;
     atomic { holds = false; mine = 0 }
  :: else
  fi
}

inline place(x) {                                  /* x: depth + 1, into ticket t */
  do
  :: atomic { seq_[SL(t)] == t -> slot[SL(t)] = x };
     seq_[SL(t)] = t + 1; t = 0; break
#if BUG!=1
  :: holds && seq_[SL(mine)] == mine + 1 -> poll()
#endif
  od
}

inline reserve() {                                 /* sets ok and t if it gets a ticket */
  ok = false;
#if BUG==3
  ok = true;
#else
  if
  :: credit > 0 -> credit--; ok = true
  :: credit == 0 ->
#if BUG==2
     atomic { credits > 0 -> credits-- }; ok = true
#else
     atomic { had = credits; credits-- };
     if :: had > 0 -> ok = true :: else -> credits++ fi;
     had = 0
#endif
  fi;
#endif
  if :: ok -> atomic { t = tail; tail++ } :: else fi
}

inline run_item() {                                /* runs an item of depth d */
  if
  :: d > 0 ->
     k = 0;
     do
     :: k < FAN ->
        outstanding++;
        reserve();
        if
        :: ok -> place(d)
#if BUG==4
        :: else
#else
        :: else -> atomic { spill[d-1]++; s++ }
#endif
        fi;
        k++
     :: else -> break
     od
  :: else
  fi;
  atomic { ran++; outstanding--; d = 0; k = 0; ok = false }
}

inline unspill() {
  atomic { d = 0; do :: spill[d] == 0 -> d++ :: else -> break od; spill[d]--; s-- };
  reserve();
  if
  :: ok -> place(d + 1); d = 0
  :: else -> run_item()
  fi
}

inline rest() {
  if :: credit > 0 -> atomic { credits = credits + credit; credit = 0 } :: else fi
}

proctype Worker() {
  byte mine, has, t, k, d, spill[DEPTH+1], s, credit;
  short had;
  bool holds, ok;
  do
  :: has > 0 -> atomic { credit++; d = has - 1; has = 0 }; run_item()
#ifdef CLAIM
  :: has == 0 ->
     if
     :: atomic { head < tail -> mine = head; head++ };         /* a compare-and-swap that succeeds; ring.pml has those that fail */
        atomic { seq_[SL(mine)] == mine + 1 -> has = slot[SL(mine)] };
        seq_[SL(mine)] = mine + CAP; mine = 0
     :: head >= tail && s > 0 -> unspill()
     :: head >= tail && s == 0 -> rest();
        if :: outstanding == 0 -> break :: head < tail fi
     fi
#else
  :: has == 0 ->
     if :: !holds -> atomic { mine = head; head++; holds = true } :: else fi;
     if
     :: seq_[SL(mine)] == mine + 1 -> poll()
     :: seq_[SL(mine)] != mine + 1 && s > 0 -> unspill()
     :: seq_[SL(mine)] != mine + 1 && s == 0 -> rest();
        if :: outstanding == 0 -> break :: seq_[SL(mine)] == mine + 1 fi
     fi
#endif
  od;
  gone++
}

init {
  byte k;
  atomic {
    do :: k < CAP -> seq_[k] = k; k++ :: else -> break od;
    slot[0] = DEPTH + 1; seq_[0] = 1; tail = 1; credits = CAP - 1; outstanding = 1;
    k = 0; do :: k < W -> run Worker(); k++ :: else -> break od; k = 0
  };
  (gone == W);
  assert(ran == TOTAL);
#if BUG!=3
  assert(credits == CAP)                             /* with BUG 3 no credits are taken */
#endif
}
