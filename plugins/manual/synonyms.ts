/** Words of newcomers beside those of the manual; each line is a family whose members match one another. */
const families = `
mute silence snooze quiet shut
location place region country site
cronjob cron job heartbeat
server machine box
smallest minimum sizing requirements
handle capacity sizing limit
undo rollback back revert
delete remove uninstall
colleague user person people account
permission role access rights
readonly viewer
notify notification alert message page
website address url check
picture graph chart panel dashboard
board dashboard
openai provider model llm
ai model agent llm
bot chat
password sign-in login
price cost spend tokens budget
wall tv screen kiosk
runbook playbook document
assistant agent persona
plugin pack extension
install setup
upgrade update
restore recover
encrypted tls https certificate
trace span otlp
reader grafana
ticket incident
downtime outage
customer organization tenant
phone mobile iphone android
log logs journal
`;

const byWord = new Map<string, Set<string>>();

for (const line of families.trim().split('\n')) {
  const members = line.split(' ');
  for (const word of members) {
    const others = byWord.get(word) ?? new Set();
    members.filter((other) => other !== word).forEach((other) => others.add(other));
    byWord.set(word, others);
  }
}

/** Returns what the manual may say instead of a word. */
export const otherWordsFor = (word: string): readonly string[] => [
  ...(byWord.get(word) ?? byWord.get(word.replace(/s$/, '')) ?? []),
];
