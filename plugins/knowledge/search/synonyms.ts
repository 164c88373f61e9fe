import { analyze } from './analyze.ts';

/** Synonyms; each line is a family whose members match one another. */
const families = `
oom | out of memory | oom killer | oomkilled | killed process
memory | ram | rss | resident
disk | filesystem | volume | partition | storage | mount
disk | drive | device | ssd | nvme
full | no space left | out of space | enospc | running out | exhausted | used up
cpu | processor | cores
busy | saturated | hammering | pegged | maxed out | overloaded
grows | climbs | rises | increases | creeping up
high | above | too much
slow | latency | sluggish | high response time | takes long | laggy | crawls
slow | takes a minute | takes forever
crash | crashloop | keeps restarting | restart loop | dies | segfault | core dumped
restart | reboot
offline | unreachable | not reporting | disappeared | vanished | went silent | no heartbeat
down | does not answer | not answering | not responding | outage | unavailable | dead
site | website | web page | web server | service
app | application | service | program
fails | broken | does not work | error
certificate | cert | tls | ssl | x509
https | tls
expired | expire | expiry | out of date | not valid
dns | name resolution | resolve | lookup | nxdomain | servfail
timeout | timed out | deadline exceeded | times out
connection refused | econnrefused
connection reset | econnreset | broken pipe
too many open files | emfile | file descriptors | fd | ulimit | nofile
database | db
postgres | postgresql | psql | pg
mysql | mariadb
kubernetes | k8s | kubectl
pod | container
docker | container
image pull | imagepullbackoff | errimagepull
evicted | eviction
network | nic | interface | eth0
packet loss | drops | dropped packets
clock | ntp | time sync | chrony | time drift
load | load average | loadavg | run queue
swap | swapping | paging
inode | inodes
log | logs | journal | syslog
permission denied | access denied | eacces | forbidden | 403
unauthorized | 401 | authentication failed | login failed | sign in
server error | 500 | 5xx | internal server error
bad gateway | 502
service unavailable | 503
gateway timeout | 504
too many requests | 429 | rate limit | throttled
rollback | roll back | revert
deploy | deployment | release | rollout
alert | alarm | notification | pager
noisy | flapping | alert storm | too many alerts
silence | mute | snooze
agent | edge | collector
manager | svc | console
host | machine | server | box | node | vm
read only | readonly | ro | erofs
hung | hang | stuck | frozen | blocked | unresponsive | d state | uninterruptible
io wait | iowait | disk wait
throughput | bandwidth
replication | replica | standby | follower
deadlock | lock wait | lock
queue | backlog
leak | leaking
raid | mdadm | md array | degraded array
ssh | log in
zombie | defunct
temperature | overheating | hot | thermal
backup | dump
restore | recover
upgrade | update
password | credential
cron | timer | scheduled job
virus | miner | mining | malware | intrusion | hacked
firewall | iptables | nftables | security group
deleted | removed | unlinked
cpu steal | steal time | stolen | noisy neighbour | noisy neighbor | hypervisor
retransmit | retransmission | retrans | sent again
syn flood | half open | syn recv | synrecv
conntrack | nf conntrack | connection tracking
mtu | pmtu | fragmentation | large packets | jumbo frames
ephemeral ports | time wait | outgoing ports | eaddrnotavail | cannot assign requested address
somaxconn | listen queue | accept queue | listen overflow
enrol | enroll | register | join | onboard | add a host | new machine
duplicate | cloned | twin | same identity
assistant | llm | ai | chatbot | chat | openai | model
sign in | log in | login | password | locked out
cardinality | series explosion | label explosion | too many series
scrape | exporter | target
device | host | machine
scheduled job | cron | crontab | nightly job
release | deploy | new version
nfs | file server | network share | stale file handle
too many connections | too many clients | connection slots | connection limit
hogging | hog | eating | eats up | consuming
spike | spiking | jumps | burst
wiped | missing | gone
compromised | hacked | breach | malware
blank | empty | no data | nothing shown
gap | missing data | hole
stale | behind | late | delayed | lagging
wrong time | clock skew | time drift | clock
kill | sigkill | terminated | reaped | exit 137
kernel log | dmesg | kernel message | kernel errors
hardware errors | mce | ecc | edac
email | mail | webhook | slack
config | configuration | settings
traffic | bandwidth | throughput
packet loss | lossy | drops
requests | calls | traffic
latency | p99 | p95 | response time
java | jvm | heap
bouncing | goes up and down | flaps | flapping
vacuum | bloat
wal | write ahead log
slow query | long query
oom score | oom
reclaim | reclaimable | page cache | cache
fork | cannot fork | resource temporarily unavailable | pid limit | threads
console | ui | dashboard | web page
memory | mem
process | proc | procs
connection | conn | conns
config | conf | cfg
filesystem | fs
request | req | reqs
temperature | temp
usage | util | utilization
performance | perf
authentication | auth
message | msg
directory | dir | folder
response | resp
database | dbs
kubernetes | kube
certificate | certs
seconds | sec | secs
command | cmd
delete | rm | remove | purge
folder | path
kswapd | kswapd0 | reclaim | memory pressure
burstable | t2 | t3 | cpu credits | credits
aborting journal | aborted journal | remount | read only
jammed | clogged | congested | congestion | saturated
fatter | bigger | swells | balloons | bloated | keeps growing | grows
pile up | piling up | piles up | accumulate | backlog
worked off | working off | processed | consumed
task | job
celery | sidekiq | resque | workers
hammered | bombarded | flooded | overloaded
bounce | bounced | rejected
slave | replica | standby
master | primary | leader
read copy | second copy | replica
does not start | wont start | fails to start | refuses to start | cannot start
out of sync | lag | behind
cant reach | cannot reach | not reachable | unreachable
scraper | bot | crawler
invoice | bill | cost | spending
junk | spam
kicked out | evicted | thrown out
laggy | choppy | jitter
choked | throttled
green and red | up and down | flapping
tomorrow | within a day
internet line | uplink | leased line | provider
scheduled task | cron | timer
`;

interface Family {
  readonly members: readonly (readonly string[])[];
}

/** Synonyms by the first term of each phrase. */
const byFirst = new Map<
  string,
  { readonly phrase: readonly string[]; readonly family: Family }[]
>();

for (const line of families.trim().split('\n')) {
  const family: Family = {
    members: line.split('|').map((member) => analyze(member).tokens.map(({ term }) => term)),
  };
  for (const phrase of family.members) {
    byFirst.set(phrase[0]!, [...(byFirst.get(phrase[0]!) ?? []), { phrase, family }]);
  }
}

/**
 * Returns the synonyms of the words at `at`: how many words they stand for, and the other phrases
 * of their families.
 */
export function otherWords(
  terms: readonly string[],
  at: number,
): readonly { readonly length: number; readonly phrases: readonly (readonly string[])[] }[] {
  return (byFirst.get(terms[at]!) ?? [])
    .filter(({ phrase }) => phrase.every((term, index) => terms[at + index] === term))
    .map(({ phrase, family }) => ({
      length: phrase.length,
      phrases: family.members.filter((member) => member !== phrase),
    }));
}
