/* The channel between two PEs (include/shoal/queue/channel.hpp): senders never look at the slot, receivers drain under a lock.
 *
 * NS senders send NB items each, up to MAXB at once; NR receivers drain up to FETCH at once. The value of ticket t is t+1.
 * Credits go back Q at a time, when the drained tickets pass a multiple of Q, after the lock is open. Lock and head are one word.
 * Claims: every ticket is received once, in ticket order, with its own value; no live slot is overwritten; nobody waits for
 * ever; in the end all credits but those below a share are home and the lock is open.
 *
 * -DBUG=1 the signal before the value       2 credits go back before the copy        3 no lock
 *       4 the lock opens before the copy    5 any signal counts as ready             6 a shortage of credits is kept
 *       7 tickets without credits           8 credits never go back                  9 a share is more than the channel
 *      10 what a drainer keeps below a share is lost to the next
 */
#ifndef NS
#define NS 2
#endif
#ifndef NB
#define NB 2
#endif
#ifndef NR
#define NR 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef MAXB
#define MAXB 2
#endif
#ifndef FETCH
#define FETCH 2
#endif
#ifndef Q
#define Q 1
#endif
#ifndef BUG
#define BUG 0
#endif
#if BUG==9
#define SHARE (2*CAP)
#else
#define SHARE Q
#endif
#define TOT (NS*NB)
#define SL(t) ((t) % CAP)
#if BUG==5
#define READY(t) (signal_[SL(t)] != 0)
#else
#define READY(t) (signal_[SL(t)] == (t) + 1)
#endif

byte value[CAP], signal_[CAP];
byte tail, head, next_, left_;
short room = CAP;
bool lock_, got[TOT+CAP];

proctype Sender() {
  byte todo = NB, k, t, j;
  short had;
  do
  :: todo == 0 -> break
  :: todo > 0 ->
     if :: k = 1
#if MAXB > 1
        :: todo > 1 -> k = 2
#endif
     fi;
#if BUG!=7
     atomic { room > 0 -> had = room; room = room - k };
     if
     :: had < k ->
#if BUG!=6
        room = room + (k - had);
#endif
        k = had
     :: else
     fi;
#endif
     atomic { t = tail; tail = tail + k };
     do
     :: j < k ->
#if BUG==1
        signal_[SL(t+j)] = t + j + 1;
        value[SL(t+j)] = t + j + 1;
#else
        value[SL(t+j)] = t + j + 1;
        signal_[SL(t+j)] = t + j + 1;
#endif
        j++
     :: else -> break
     od;
     atomic { todo = todo - k; k = 0; t = 0; j = 0; had = 0 }
  od;
  left_++
}

proctype Receiver() {
  byte h, n, v, i, copy[FETCH];
  do
  :: head >= TOT -> break
#if BUG==3
  :: head < TOT && READY(head) ->
#else
  :: atomic { head < TOT && READY(head) && !lock_ -> lock_ = true };
#endif
     h = head;
     do
     :: n < FETCH && READY(h+n) ->
#if BUG==2
        room++;
#endif
#if BUG!=4
        copy[n] = value[SL(h+n)];
#endif
        n++
     :: else -> break
     od;
     atomic { head = h + n; lock_ = false };
#if BUG==4
     i = 0;
     do :: i < n -> copy[i] = value[SL(h+i)]; i++ :: else -> break od;
#endif
#if BUG==10
     if :: n >= Q -> room = room + (n / Q) * Q :: else fi;
#elif BUG!=2 && BUG!=8
     if :: (h + n) / SHARE > h / SHARE -> room = room + ((h + n) / SHARE - h / SHARE) * SHARE :: else fi;
#endif
     atomic {
       i = 0;
       do :: i < n -> assert(copy[i] == h + i + 1 && !got[h+i]); got[h+i] = true; copy[i] = 0; next_++; i++ :: else -> break od;
       h = 0; n = 0; i = 0
     }
  od;
  left_++
}

init {
  byte k;
  atomic {
    k = 0; do :: k < NS -> run Sender(); k++ :: else -> break od;
    k = 0; do :: k < NR -> run Receiver(); k++ :: else -> break od; k = 0
  };
  (left_ == NS + NR);
  assert(next_ == TOT && tail == TOT && head == TOT && !lock_);
#if BUG!=7
  assert(room == CAP - TOT % Q)                      /* with 7 nobody took credits */
#endif
}
