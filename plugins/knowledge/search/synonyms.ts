import { analyze } from './analyze.ts';

/** Words for one thing; each line is a family, in which one finds documents that say another. */
const families = `
oom | out of memory | oom killer | oomkilled
memory | ram
disk | filesystem | volume | partition | storage
full | no space left | out of space | enospc | running out | exhausted
cpu | processor
slow | latency | sluggish | high response time | takes long | lag
crash | crashloop | crashing | keeps restarting | restart loop | dies
restart | reboot
offline | unreachable | down | not reporting | disappeared | gone
certificate | cert | tls | ssl | x509 | https
expired | expire | expiry | out of date
dns | name resolution | resolve hostname | lookup
timeout | timed out | deadline exceeded | times out
connection refused | econnrefused
connection reset | econnreset
too many open files | emfile | file descriptors | fd | ulimit
database | db
postgres | postgresql
kubernetes | k8s
pod | container
network | nic | interface
packet | packets
clock | ntp | time sync | chrony | time drift
load | load average | run queue
swap | swapping | paging
inode | inodes
log | logs | journal
permission denied | access denied | eacces | forbidden | 403
unauthorized | 401 | authentication failed | login failed
server error | 500 | 5xx | internal server error
bad gateway | 502
service unavailable | 503
gateway timeout | 504
too many requests | 429 | rate limit | throttled
rollback | roll back | revert
deploy | deployment | release | rollout
alert | alarm | notification | page
noisy | flapping | too many alerts
silence | mute
agent | edge
host | machine | server | box | node
read only | readonly | ro
hung | hang | stuck | frozen | blocked | unresponsive
io wait | iowait | disk latency
throughput | bandwidth
replication | replica | standby
deadlock | lock wait
queue | backlog
consumer lag | lag
leak | grows | growing
raid | md | array
ssh | log in remotely
sudo | root | privilege
zombie | defunct
temperature | overheating | hot | thermal
backup | dump
upgrade | update
password | credential | secret
key | token
`;

interface Family {
  readonly members: readonly (readonly string[])[];
}

/** By the first term of each of their phrases. */
const byFirst = new Map<string, { readonly phrase: readonly string[]; readonly family: Family }[]>();

for (const line of families.trim().split('\n')) {
  const family: Family = { members: line.split('|').map((member) => analyze(member).tokens.map(({ term }) => term)) };
  for (const phrase of family.members) {
    byFirst.set(phrase[0]!, [...(byFirst.get(phrase[0]!) ?? []), { phrase, family }]);
  }
}

/** What else is said for the words that begin at `at`: how many words it stands for, and the other phrases of their families. */
export function otherWords(terms: readonly string[], at: number): readonly { readonly length: number; readonly phrases: readonly (readonly string[])[] }[] {
  return (byFirst.get(terms[at]!) ?? [])
    .filter(({ phrase }) => phrase.every((term, index) => terms[at + index] === term))
    .map(({ phrase, family }) => ({ length: phrase.length, phrases: family.members.filter((member) => member !== phrase) }));
}
