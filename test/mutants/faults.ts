/** A fault to plant, and the tests that are to find it. */
export interface Fault {
  /** Path from the root of the project. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly put: string;
  /** Parts of paths, as `npm test` takes them: the plugin of the file and nothing else. */
  readonly tests: readonly string[];
}

/**
 * Faults, one per area: each is a slip that somebody could make, and that types, lint and format
 * miss.
 */
export const faults: readonly Fault[] = [
  {
    file: 'core/auth/client-address.ts',
    find: '.findLast((address) => isIP(address) === 0',
    put: '.find((address) => isIP(address) === 0',
    tests: ['test/auth/'],
  },
  {
    file: 'core/host/quarantine.ts',
    find: '.length >= strikesToQuarantine',
    put: '.length > strikesToQuarantine',
    tests: ['test/host/'],
  },
  {
    file: 'core/observe/redact.ts',
    find: 'secretName.test(letters) && !harmlessName.test(letters)',
    put: 'secretName.test(letters) && harmlessName.test(letters)',
    tests: ['test/observe/'],
  },
  {
    file: 'core/outbound/reach.ts',
    find: 'if (!loopback.some((net) => contains(net, real))) {',
    put: 'if (loopback.some((net) => contains(net, real))) {',
    tests: ['test/outbound/'],
  },
  {
    file: 'core/storage/groups.ts',
    find: 'return this.#queue.length >= waiting',
    put: 'return this.#queue.length >= waiting * 2',
    tests: ['test/storage/'],
  },
  {
    file: 'core/storage/ownership.ts',
    find: "relations.has(name) && !this.isOwn(owner, name) && !name.startsWith('sqlite_')",
    put: "relations.has(name) && this.isOwn(owner, name) && !name.startsWith('sqlite_')",
    tests: ['test/storage/'],
  },
  {
    file: 'core/storage/disk/disk-guard.ts',
    find: 'this.#refusal === undefined && free < readOnlyBelowBytes',
    put: 'this.#refusal !== undefined && free < readOnlyBelowBytes',
    tests: ['test/storage/disk-guard'],
  },
  {
    file: 'core/http/access/authorize.ts',
    find: "if (principal.kind === 'anonymous') {",
    put: "if (principal.kind === 'token') {",
    tests: ['test/http/'],
  },
  {
    file: 'plugins/lib/flow/token-bucket.ts',
    find: 'return this.#tokens >= 1 ? 0 :',
    put: 'return this.#tokens > 0 ? 0 :',
    tests: ['plugins/lib/flow/'],
  },
  {
    file: 'plugins/lib/flow/sliding-counter.ts',
    find: 'if (times.length >= limit) {',
    put: 'if (times.length > limit) {',
    tests: ['plugins/lib/flow/'],
  },
  {
    file: 'plugins/device/binding.ts',
    find: 'filter(({ edge_id: id }) => id !== edgeId)',
    put: 'filter(({ edge_id: id }) => id === edgeId)',
    tests: ['plugins/device/'],
  },
  {
    file: 'plugins/approval/signers.ts',
    find: 'const isDangerous = row.signatures > 1;',
    put: 'const isDangerous = row.signatures > 2;',
    tests: ['plugins/approval/'],
  },
  {
    file: 'plugins/audit/rows/chain.ts',
    find: 'return bind(key, row.prev_hash, row.seq, row.record) === row.hash',
    put: "return bind(key, row.prev_hash, row.seq, row.record) !== ''",
    tests: ['plugins/audit/'],
  },
  {
    file: 'plugins/gate/argument-policy.ts',
    find: 'given.some((line) => pattern.matcher(line).find())',
    put: 'given.every((line) => pattern.matcher(line).find())',
    tests: ['plugins/gate/'],
  },
  {
    file: 'plugins/setting/reveal-allowance.ts',
    find: 'if (waitMs > 0) {',
    put: 'if (waitMs < 0) {',
    tests: ['plugins/setting/'],
  },
  {
    file: 'plugins/session/tokens/access-tokens.ts',
    find: "typ === 'access' &&",
    put: "typ !== '' &&",
    tests: ['plugins/session/'],
  },
  {
    file: 'plugins/session/sign-in/throttle.ts',
    find: 'failed: () => ends.forEach((end) => end(true))',
    put: 'failed: () => ends.forEach((end) => end(false))',
    tests: ['plugins/session/'],
  },
  {
    file: 'plugins/iam/passwords/hasher.ts',
    find: 'timingSafeEqual(derived, key) && known !== undefined',
    put: 'timingSafeEqual(derived, derived) && known !== undefined',
    tests: ['plugins/iam/'],
  },
  {
    file: 'plugins/iam/policy/people.ts',
    find: "return person?.status === 'active' ? person : undefined;",
    put: 'return person;',
    tests: ['plugins/iam/'],
  },
  {
    file: 'plugins/notify/message/grouping.ts',
    find: 'Math.max(waitMs, Math.min(sentAt, now) + intervalMs - now)',
    put: 'Math.min(waitMs, Math.min(sentAt, now) + intervalMs - now)',
    tests: ['plugins/notify/'],
  },
  {
    file: 'plugins/notify/queue/retries.ts',
    find: 'return !isRefused && row.attempts < soonTries;',
    put: 'return !isRefused && row.attempts > soonTries;',
    tests: ['plugins/notify/'],
  },
  {
    file: 'plugins/alert/instance/instance.ts',
    find: "plan.join === 'all' ? present.every(Boolean)",
    put: "plan.join === 'all' ? present.some(Boolean)",
    tests: ['plugins/alert/'],
  },
  {
    file: 'plugins/ingest/push-gate.ts',
    find: 'if (seconds > 0) {',
    put: 'if (seconds > 1_000) {',
    tests: ['plugins/ingest/'],
  },
  {
    file: 'plugins/mcp/json-rpc.ts',
    find: 'if (depthOf(value) > deepest) {',
    put: 'if (depthOf(value) < 0) {',
    tests: ['plugins/mcp/'],
  },
  {
    file: 'plugins/websearch/page-text.ts',
    find: 'html.slice(at + 2, at + 2 + name.length).toLowerCase() === name',
    put: 'html.slice(at + 2, at + 2 + name.length) === name',
    tests: ['plugins/websearch/'],
  },
  {
    file: 'plugins/checks/rounds/verdict.ts',
    find: 'if (failing.length >= needed) {',
    put: 'if (failing.length > needed) {',
    tests: ['plugins/checks/'],
  },
  {
    file: 'plugins/heartbeats/heartbeat/heartbeat.ts',
    find: 'return now < expectedAt + pace.graceMs',
    put: 'return now < expectedAt',
    tests: ['plugins/heartbeats/'],
  },
];
