/* Segments between two PEs (include/shoal/queue/segments.hpp): stored items are published as prefixes of a segment, and each
 * segment is claimed by itself.
 *
 * NS senders send NB items each, up to MAXB at once. NR receivers claim up to FETCH at once, in the LOOK segments from the oldest
 * on. There are S segments of C items. The value of ticket t is t+1. With -DWAIT a sender may delay publishing a part of a segment;
 * senders that wait for credits, or have sent all, publish such parts (offer).
 * Claims: every ticket is received once, with its own value; no live item is overwritten; no process waits forever; in the end
 * every segment that was filled has been given back.
 *
 * -DLIVE: everything is sent and received in the end (weak fairness).
 *
 * -DBUG=1 filled items are published even if they are no prefix   2 the tail is read before `filled` is added to
 *       3 the tail is read again for the count to publish         4 `written` is stored, not raised to a maximum
 *       5 only full segments are published               6 delayed parts are never offered (-DWAIT)
 *       7 full segments may be delayed, too (-DWAIT)     8 `filled` is added to before the items are stored
 *       9 two receivers may claim the same               10 claimed to the end of the segment, whatever is written
 *      11 given back when it is claimed                 12 any returned segment becomes credits, not only the next one in order
 *      13 two senders may turn the same segment into credits
 *      14 credits taken beyond those that were there are not put back
 *      15 the hint (`oldest`) moves on when a segment is claimed in part
 *      16 offering reads the tail before `filled` (-DWAIT)
 *      17 only a receiver that claims the end of a segment moves the hint, and only by one
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
#ifndef C
#define C 2
#endif
#ifndef S
#define S 2
#endif
#ifndef MAXB
#define MAXB 2
#endif
#ifndef FETCH
#define FETCH 2
#endif
#ifndef LOOK
#define LOOK (S < 2 -> 1 : 2)
#endif
#ifndef BUG
#define BUG 0
#endif
#define CAP (S*C)
#define TOT (NS*NB)
#define SLOT(n) ((n) % S)
#define BEGIN(n) (((n) / S) * C)
#define END(n) (BEGIN(n) + C)
#define LEAST(a, b) ((a) < (b) -> (a) : (b))
#define READY(n) LEAST(written[SLOT(n)], END(n))
#define WAITING(n) (claimed[SLOT(n)] < READY(n))
#define OPEN (tail / C)
#define OFFERS (tail % C != 0 && filled[SLOT(OPEN)] > told[SLOT(OPEN)] && filled[SLOT(OPEN)] == BEGIN(OPEN) + tail % C)
#if BUG==12
#define HOME(n) (home[SLOT(n)] > (n) / S || home[SLOT((n) + 1)] > ((n) + 1) / S)
#else
#define HOME(n) (home[SLOT(n)] > (n) / S)
#endif

byte value[CAP], filled[S], told[S], home[S], written[S], claimed[S], read_[S];
byte tail, granted, oldest, received, left_;
short credits = CAP;
bool got[TOT+CAP];

inline tell(n_, upto) {
  atomic { told[SLOT(n_)] = (told[SLOT(n_)] < (upto) -> (upto) : told[SLOT(n_)]) };
#if BUG==4
  written[SLOT(n_)] = (upto)
#else
  atomic { if :: written[SLOT(n_)] < (upto) -> written[SLOT(n_)] = (upto) :: else fi }
#endif
}

inline offer() {
#if BUG==16
  r = tail;
  n = r / C;
  f = filled[SLOT(n)];
#else
  n = tail / C;
  f = filled[SLOT(n)];
  r = tail;
#endif
  if
  :: f > BEGIN(n) && r > n * C && f == BEGIN(n) + r - n * C -> tell(n, f)
  :: else
  fi
}

proctype Sender() {
  byte todo = NB, k, t, j, n, m, f, r, g;
  short had, short_;
  bool mine;
  do
  :: todo == 0 -> break
  :: todo > 0 ->
     if :: k = 1
#if MAXB > 1
        :: todo > 1 -> k = 2
#endif
     fi;
     do
     :: credits > 0 -> atomic { had = credits; credits = credits - k };
        if
        :: had < k ->
           short_ = (had > 0 -> k - had : k);
#if BUG!=14
           credits = credits + short_;
#endif
           k = k - short_;
           if :: k > 0 -> break :: else -> k = 1 fi
        :: else -> break
        fi
     :: credits < k && HOME(granted) ->
        g = granted;
#if BUG==13
        if :: HOME(g) -> mine = true; granted = g + 1 :: else fi;
#else
        if :: HOME(g) -> atomic { if :: granted == g -> granted = g + 1; mine = true :: else fi } :: else fi;
#endif
        if :: mine -> credits = credits + C; mine = false :: else fi
#if defined(WAIT) && BUG!=6
     :: credits <= 0 && OFFERS -> offer()
#endif
     od;
     atomic { t = tail; tail = tail + k };
     j = 0;
#if BUG!=8
     do
     :: j < k -> value[(t+j) % CAP] = t + j + 1; j++
     :: else -> break
     od;
     j = 0;
#endif
     do
     :: j < k ->
        n = (t + j) / C;
        m = LEAST(C - (t + j) % C, k - j);
#if BUG==2
        r = tail;
#endif
        atomic { filled[SLOT(n)] = filled[SLOT(n)] + m; f = filled[SLOT(n)] };
        if
        :: f == END(n) ->
#if BUG==7
           if :: tell(n, f) :: skip fi
#else
           tell(n, f)
#endif
        :: else ->
#if BUG==1
           tell(n, f)
#elif BUG!=5
#if BUG!=2
           r = tail;
#endif
           if
#if BUG==3
           :: f == BEGIN(n) + r - n * C -> r = tail; f = LEAST(BEGIN(n) + r - n * C, END(n)); tell(n, f)
#else
           :: f == BEGIN(n) + r - n * C -> tell(n, f)
#endif
#ifdef WAIT
           :: f == BEGIN(n) + r - n * C               /* delayed */
#endif
           :: f != BEGIN(n) + r - n * C
           fi
#else
           skip
#endif
        fi;
        j = j + m
     :: else -> break
     od;
#if BUG==8
     j = 0;
     do
     :: j < k -> value[(t+j) % CAP] = t + j + 1; j++
     :: else -> break
     od;
#endif
     atomic { todo = todo - k; k = 0; t = 0; j = 0; n = 0; m = 0; f = 0; r = 0; g = 0; had = 0; short_ = 0 }
  od;
#if defined(WAIT) && BUG!=6
  offer();
  n = 0; f = 0; r = 0;
#endif
  left_++
}

proctype Receiver() {
  byte h, c, n, i, r, a, copy[FETCH];
  bool back;
  do
  :: received == TOT -> break
  :: received < TOT && (WAITING(oldest) || (LOOK > 1 && WAITING(oldest + 1))) ->
     a = oldest;
     if :: WAITING(a) -> h = a :: LOOK > 1 && WAITING(a + 1) -> h = a + 1 :: else -> goto next fi;
     c = claimed[SLOT(h)];
#if BUG==10
     r = END(h);
#else
     r = READY(h);
#endif
     if
     :: c < r ->
        n = LEAST(r - c, FETCH);
#if BUG==9
        if :: claimed[SLOT(h)] == c -> claimed[SLOT(h)] = c + n :: else -> n = 0 fi;
#else
        atomic { if :: claimed[SLOT(h)] == c -> claimed[SLOT(h)] = c + n :: else -> n = 0 fi };
#endif
        if
        :: n > 0 ->
#if BUG==11
           if :: c + n == END(h) -> home[SLOT(h)] = h / S + 1 :: else fi;
#endif
#if BUG==15
           atomic { if :: oldest == h -> oldest = h + 1 :: else fi };
#elif BUG==17
           if :: c + n == END(h) -> atomic { if :: oldest == h -> oldest = h + 1 :: else fi } :: else fi;
#endif
           i = 0;
           do :: i < n -> copy[i] = value[(h * C + c + i - BEGIN(h)) % CAP]; i++ :: else -> break od;
           atomic { read_[SLOT(h)] = read_[SLOT(h)] + n; back = (read_[SLOT(h)] == END(h)) };
#if BUG!=11
           if :: back -> home[SLOT(h)] = h / S + 1 :: else fi;
#endif
           atomic {
             i = 0;
             do
             :: i < n ->
                assert(copy[i] == h * C + c + i - BEGIN(h) + 1 && !got[copy[i] - 1]);
                got[copy[i] - 1] = true; received++; i++
             :: else -> break
             od;
             i = 0; do :: i < FETCH -> copy[i] = 0; i++ :: else -> break od
           }
        :: else
        fi
     :: else
     fi;
next:
     atomic { h = 0; c = 0; n = 0; i = 0; r = 0; a = 0; back = false }
#if BUG!=15 && BUG!=17
  :: received < TOT && claimed[SLOT(oldest)] >= END(oldest) ->
     a = oldest;
     if :: claimed[SLOT(a)] >= END(a) -> atomic { if :: oldest == a -> oldest = a + 1 :: else fi } :: else fi;
     a = 0
#endif
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
  assert(received == TOT && tail == TOT);
  assert(credits == CAP + granted * C - TOT);
  k = 0;
  do :: k < S -> assert(home[k] == read_[k] / C); k++ :: else -> break od
}

#ifdef LIVE
ltl ends { <> (left_ == NS + NR) }
#endif
