/* The segment ring (include/shoal/queue/segment_ring.hpp): N segments of S slots, readiness and freeing by segment.
 *
 * NP pushers and NX workers that push and pop push NB items each, up to MAXB at once, as far as there are credits; what
 * finds no credit is tried again. NC poppers and the NX claim up to FETCH tickets at once (default) or hold one ticket each
 * (-DHOLD); a holder that waits to push polls the ticket it holds. The value of ticket t is t+1. A popper looks at `filled`,
 * then at `tail`, in two steps; it looks again when one of them has changed, so that waiting for ever is an invalid end state.
 * Claims: every ticket is popped once, with its own value, never unwritten or old; nobody waits for ever; in the end all
 * credits are home but those of the used part of the last segment.
 *
 * -DBUG=1 tail is read before filled               2 the counter is raised before the values are written
 *       3 a pusher does not wait for its segment   4 a slot is counted as emptied before it is copied
 *       5 a batch is counted in its first segment  6 credits for single slots (workers that push and claim)
 *       7 a shortage of credits is not given back  8 laps are not told apart
 */
#ifndef NP
#define NP 2
#endif
#ifndef NX
#define NX 0
#endif
#ifndef NB
#define NB 2
#endif
#ifndef NC
#define NC 2
#endif
#ifndef S
#define S 2
#endif
#ifndef N
#define N 2
#endif
#ifndef MAXB
#define MAXB 1
#endif
#ifndef FETCH
#define FETCH 1
#endif
#ifndef BUG
#define BUG 0
#endif
#define CAP (S*N)
#define TOT ((NP+NX)*NB)
#define SEG(t) (((t) / S) % N)
#define BASE(t) (((t) / S) * S)
#if BUG==8
#define LAP(t) 0
#else
#define LAP(t) (((t) / CAP) * S)
#endif
/* the rule: c slots are counted of this lap, e is the tail */
#define RULE(t, c, e) ((c) - LAP(t) > (t) - BASE(t) && ((c) - LAP(t) >= S || (c) - LAP(t) == (e) - BASE(t)))

byte slot[CAP], filled[N], emptied[N];
byte tail, head, took, left_;
short room = CAP;
bool got[TOT+1];

inline look(t) {                                   /* ok: the value of ticket t is there */
#if BUG==1
  e = tail; c = filled[SEG(t)];
#else
  c = filled[SEG(t)]; e = tail;
#endif
  ok = RULE(t, c, e)
}

inline copy(t) {
  v = slot[(t) % CAP];
  atomic { assert(v == (t) + 1 && !got[(t)]); got[(t)] = true; v = 0 }
}

inline put_back(t) {
#if BUG==6
  emptied[SEG(t)]++;
  room++;
#else
  atomic { emptied[SEG(t)]++; ok = (emptied[SEG(t)] % S == 0) };
  if :: ok -> room = room + S :: else fi;
#endif
  atomic { ok = false; took++ }
}

inline pop_range(h, n) {                           /* waits for each value, copies all, then counts them as emptied */
  i = 0;
  do
  :: i < n ->
     do
     :: look(h + i);
        if :: ok -> break :: else -> (filled[SEG(h + i)] != c || tail != e) fi
     od;
     atomic { c = 0; e = 0; ok = false };
#if BUG==4
     put_back(h + i); copy(h + i);
#else
     copy(h + i);
#endif
     i++
  :: else -> break
  od;
  i = 0;
#if BUG!=4
  do :: i < n -> put_back(h + i); i++ :: else -> break od;
#endif
  i = 0
}

inline write(t) {
  do
#if BUG==3
  :: true
#else
  :: emptied[SEG(t)] >= LAP(t)
#endif
     -> slot[(t) % CAP] = (t) + 1; break
#ifdef HOLD
  :: holds && RULE(mine, filled[SEG(mine)], tail) -> pop_range(mine, 1); atomic { holds = false; mine = 0 }
#endif
  od
}

inline commit(t, k) {
  j = 0;
#if BUG==5
  filled[SEG(t)] = filled[SEG(t)] + k;
#else
  do
  :: j < k ->
     atomic { if :: k - j < S - (t + j) % S -> d = k - j :: else -> d = S - (t + j) % S fi };
     filled[SEG(t + j)] = filled[SEG(t + j)] + d;
     atomic { j = j + d; d = 0 }
  :: else -> break
  od;
#endif
  j = 0
}

inline push() {                                    /* had credits: at least one was there */
  if :: had < k ->
#if BUG!=7
     room = room + (k - had);
#endif
     k = had
  :: else
  fi;
  atomic { t = tail; tail = tail + k };
#if BUG==2
  commit(t, k);
#endif
  do :: j < k -> write(t + j); j++ :: else -> break od;
#if BUG!=2
  commit(t, k);
#endif
  atomic { todo = todo - k; t = 0; k = 0; had = 0; j = 0 }
}

proctype Worker(bool pushes, pops) {
  byte todo, k, t, j, d, h, n, i, v, c, e, mine;
  short had;
  bool ok, holds;
  if :: pushes -> todo = NB :: else fi;
  do
  :: todo == 0 && (!pops || (head >= TOT && !holds)) -> break
  :: atomic { todo > 0 && room > 0 -> k = 1; had = room; room = room - k }; push()
#if MAXB > 1
  :: atomic { todo > 1 && room > 0 -> k = 2; had = room; room = room - k }; push()
#endif
#ifdef HOLD
  :: atomic { pops && !holds && head < TOT -> mine = head; head++; holds = true }
  :: holds && (!pushes || RULE(mine, filled[SEG(mine)], tail)) ->   /* a pure popper looks at any time */
     pop_range(mine, 1);
     atomic { holds = false; mine = 0 }
#else
  :: pops && tail > head ->
     h = head;
     n = tail - h;
     if :: n > FETCH -> n = FETCH :: else fi;
     if
     :: atomic { n > 0 && head == h -> head = h + n }; pop_range(h, n)
     :: n == 0 || head != h
     fi;
     atomic { h = 0; n = 0 }
#endif
  od;
  left_++
}

proctype Monitor() {
  byte k;
  (left_ == NP + NX + NC);
  assert(took == TOT && tail == TOT && head == TOT);
  assert(room == CAP - TOT % S);
  do :: k < N -> assert(filled[k] == emptied[k]); k++ :: else -> break od
}

init {
  byte k;
  atomic {
    do :: k < NP -> run Worker(true, false); k++ :: else -> break od;
    k = 0; do :: k < NX -> run Worker(true, true); k++ :: else -> break od;
    k = 0; do :: k < NC -> run Worker(false, true); k++ :: else -> break od;
    run Monitor(); k = 0
  }
}
