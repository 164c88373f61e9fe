import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';
import type { CallOrigin, GateAnswer, GateQuestion } from 'svc/contracts/gate';
import type { Person } from 'svc/contracts/iam';
import type { PermissionMode, Principal, SkillClass } from 'svc/sdk';

import { Gate } from '../../../plugins/gate/gate.ts';

const roles = ['admin', 'user', 'viewer', 'on-call', 'reader'] as const;
type Role = (typeof roles)[number];

/** Grants of the three shipped roles; two custom ones hold only one tool, or reading devices. */
const grantsOf: Readonly<Record<Role, readonly string[]>> = {
  admin: ['*'],
  user: [
    'edge:*',
    'edge:plugin',
    'device:*',
    'topology:*',
    'alert:*',
    'channel:*',
    'agent:*',
    'knowledge:*',
    'skill:*',
    'monitor:*',
  ],
  viewer: [],
  'on-call': ['skill:tool_a'],
  reader: ['device:read'],
};

interface Case {
  readonly who: 'user' | 'token' | 'operator' | 'system' | 'plugin' | 'edge' | 'anonymous';
  readonly role: Role;
  readonly account: 'active' | 'disabled' | 'deleted';
  /** Grants of the token: everything, or nothing. */
  readonly tokenHolds: boolean;
  readonly allow: 'empty' | 'named' | 'others';
  readonly deny: boolean;
  readonly persona: PermissionMode | 'none';
  readonly class: SkillClass;
  readonly onEdge: boolean;
  readonly origin: CallOrigin;
  readonly writes: boolean;
  readonly tainted: boolean;
  readonly args: 'unasked' | 'fine' | 'denied pattern';
  readonly target: 'none' | 'plain' | 'protected' | 'not listed';
}

const cases: fc.Arbitrary<Case> = fc.record({
  // Mostly what leads far into the table.
  who: fc.constantFrom<Case['who'][]>(
    'user',
    'user',
    'user',
    'token',
    'operator',
    'system',
    'plugin',
    'edge',
    'anonymous',
  ),
  role: fc.constantFrom<Role[]>('admin', 'user', 'user', 'viewer', 'on-call', 'reader'),
  account: fc.constantFrom<Case['account'][]>(
    'active',
    'active',
    'active',
    'active',
    'disabled',
    'deleted',
  ),
  tokenHolds: fc.boolean(),
  allow: fc.constantFrom<Case['allow'][]>('empty', 'empty', 'named', 'others'),
  deny: fc.constantFrom(false, false, true),
  persona: fc.constantFrom<Case['persona'][]>(
    'none',
    'read-only',
    'mutating-with-confirm',
    'dual-sign-required',
    'dual-sign-required',
  ),
  class: fc.constantFrom<SkillClass[]>('safe', 'mutating', 'dangerous'),
  onEdge: fc.boolean(),
  origin: fc.constantFrom<CallOrigin[]>('api', 'chat', 'background', 'mcp', 'im', 'investigation'),
  writes: fc.constantFrom(true, true, false),
  tainted: fc.boolean(),
  args: fc.constantFrom<Case['args'][]>('unasked', 'fine', 'denied pattern'),
  target: fc.constantFrom<Case['target'][]>('none', 'plain', 'plain', 'protected', 'not listed'),
});

/** The specification, row by row; what it answers is where a call ends. */
function expected(one: Case): string {
  const isPerson = one.who === 'user' || one.who === 'token';
  if (one.who === 'edge' || one.who === 'anonymous' || (isPerson && one.account !== 'active')) {
    return 'account';
  }
  const isChange = one.class === 'mutating' || one.class === 'dangerous';
  const everything = one.who === 'operator' || one.who === 'system' || one.who === 'plugin';
  const withinToken = one.who !== 'token' || one.tokenHolds;
  const mayChange = everything || (withinToken && ['admin', 'user'].includes(one.role));
  const mayLook = everything || !one.onEdge || (withinToken && one.role !== 'viewer');
  if (isChange ? !mayChange : !mayLook) {
    return 'role';
  }
  if (one.persona !== 'none') {
    if (one.allow === 'others') {
      return 'allow';
    }
    if (one.deny) {
      return 'deny';
    }
    const mostOf = { 'read-only': 0, 'mutating-with-confirm': 1, 'dual-sign-required': 2 }[
      one.persona
    ];
    if ({ safe: 0, mutating: 1, dangerous: 2 }[one.class] > mostOf) {
      return 'mode';
    }
  }
  const readsOnly =
    (isPerson && one.role === 'viewer') ||
    one.origin === 'investigation' ||
    (one.origin === 'im' && one.who !== 'user') ||
    (one.origin === 'mcp' && one.who === 'token') ||
    one.who === 'system' ||
    one.who === 'plugin';
  if (isChange && readsOnly) {
    return 'ceiling';
  }
  if (isChange && !one.writes) {
    return 'writes_off';
  }
  if (
    one.args === 'denied pattern' ||
    (one.args === 'fine' && isChange && (one.target === 'protected' || one.target === 'not listed'))
  ) {
    return 'arguments';
  }
  if (!isChange) {
    return 'run';
  }
  if (one.class === 'dangerous') {
    return 'approval 2';
  }
  return one.persona === 'none' && one.origin === 'api' && !one.tainted && one.who !== 'token'
    ? 'run'
    : 'approval 1';
}

const shown = (answer: GateAnswer): string =>
  answer.verdict === 'run'
    ? 'run'
    : answer.verdict === 'approval'
      ? `approval ${answer.signatures}`
      : answer.step;

const targets: Readonly<Record<Case['target'], GateQuestion['target']>> = {
  none: undefined,
  plain: { device_id: 7, labels: { env: 'staging' } },
  protected: { device_id: 7, labels: { env: 'prod' } },
  'not listed': { device_id: 8, labels: {} },
};

function ask(one: Case): GateAnswer {
  const person: Person = {
    id: 5,
    email: 'p@example.org',
    display_name: 'P',
    role: one.role,
    version: 1,
    orgs: undefined,
    selectors: undefined,
    status: one.account === 'disabled' ? 'disabled' : 'active',
    grants: grantsOf[one.role],
  };
  const settings: Readonly<Record<string, unknown>> = {
    'agent.write_enabled': one.writes,
    'agent.denied_arguments': ['^tool_a\\.inner\\.path=/etc/'],
    'agent.write_targets': ['device:7'],
    'agent.protected_labels': ['env=prod'],
  };
  const gate = new Gate({
    directory: { live: (id) => (id === 5 && one.account !== 'deleted' ? person : undefined) },
    settings: { get: <T>(key: string) => settings[key] as T },
  });
  // What the principal says of itself is as old as the call: everything. The accounts of this moment decide.
  const grants = one.who === 'token' && !one.tokenHolds ? [] : ['*'];
  const principal: Principal = {
    kind: one.who,
    id: one.who === 'user' || one.who === 'token' ? '5' : one.who,
    role: 'admin',
    grants,
  };
  return gate.decide({
    principal,
    tool: { key: 'tool_a', class: one.class, source: one.onEdge ? 'edge' : 'metricsdb' },
    origin: one.origin,
    tainted: one.tainted,
    ...(one.persona !== 'none' && {
      persona: {
        name: 'sre',
        tools: { empty: [], named: ['tool_b', 'tool_a'], others: ['tool_b'] }[one.allow],
        disallowed_tools: one.deny ? ['tool_a'] : ['tool_c'],
        permission_mode: one.persona,
      },
    }),
    ...(one.args !== 'unasked' && {
      args: { inner: { path: one.args === 'fine' ? '/var/log' : '/etc/shadow' } },
    }),
    ...(targets[one.target] && { target: targets[one.target]! }),
  });
}

test('role × allow × deny × mode × class × ceiling × switch × origin: the gate answers as the specification does', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(cases, (one) => {
      const answer = ask(one);
      seen.set(shown(answer), (seen.get(shown(answer)) ?? 0) + 1);
      assert.equal(
        shown(answer),
        expected(one),
        answer.verdict === 'refused' ? answer.message : undefined,
      );
    }),
    { numRuns: 20_000 },
  );
  for (const end of [
    'account',
    'role',
    'allow',
    'deny',
    'mode',
    'ceiling',
    'writes_off',
    'arguments',
    'run',
    'approval 1',
    'approval 2',
  ]) {
    assert.ok((seen.get(end) ?? 0) > 20, `${end} was reached ${seen.get(end) ?? 0} times`);
  }
});

test('a refusal is a sentence that says what to do, and names the tool', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const answer = ask(one);
      assert.ok(
        answer.verdict !== 'refused' || /(tool_a|account|device \d)/.test(answer.message),
        JSON.stringify(answer),
      );
    }),
    { numRuns: 500 },
  );
});

test('an account that a device selector narrows is given the tools that say what they show of devices, while the call has the selectors of now', () => {
  const person = {
    id: 5,
    email: 'p@example.org',
    display_name: 'P',
    role: 'user',
    version: 1,
    orgs: [1],
    grants: ['skill:*'],
    status: 'active',
  } as const;
  const settings = { get: <T>() => true as T };
  const gateOf = (selectors: readonly string[] | undefined) =>
    new Gate({ directory: { live: () => ({ ...person, selectors }) }, settings });
  const silent = { key: 'tool_a', class: 'safe', source: 'metricsdb' } as const;
  const asked = (
    kind: Principal['kind'],
    selectors?: readonly string[],
    tool: GateQuestion['tool'] = silent,
  ): GateQuestion => ({
    principal: { kind, id: '5', role: 'user', grants: ['*'], ...(selectors && { selectors }) },
    tool,
    origin: 'api',
    tainted: false,
  });
  const acme = ['customer=acme'];
  for (const kind of ['user', 'token'] as const) {
    assert.equal(shown(gateOf(undefined).decide(asked(kind))), 'run');
    assert.equal(
      shown(gateOf(acme).decide(asked(kind, acme))),
      'devices',
      'of which it is not known what they show',
    );
    for (const devices of ['none', 'narrowed'] as const) {
      const told = { ...silent, devices };
      assert.equal(shown(gateOf(acme).decide(asked(kind, acme, told))), 'run');
      assert.equal(
        shown(gateOf(acme).decide(asked(kind, undefined, told))),
        'devices',
        'as accounts stand now',
      );
      assert.equal(
        shown(gateOf(undefined).decide(asked(kind, acme, told))),
        'devices',
        'as the call stood when it began',
      );
      assert.equal(
        shown(gateOf(['customer=bravo']).decide(asked(kind, acme, told))),
        'devices',
        'of another customer by now',
      );
    }
  }
});
