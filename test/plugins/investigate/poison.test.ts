import assert from 'node:assert/strict';
import { test } from 'node:test';

import { markdownOf, type Report, textOf } from '../../../plugins/investigate/report/markdown.ts';
import { notStarted } from '../../../plugins/investigate/shown.ts';

/**
 * Texts of an attacker who can name a device, send a line or set a label, and wants more than to be
 * read.
 */
const poisons: readonly string[] = [
  '\u001b[31mred\u001b[0m\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007',
  'left \u202e\u2066thgir\u2069 zero\u200bwidth \u061c\u200f',
  'a\r\n# Heading\n\n- [x] done\n> quote',
  '[click](https://evil.example) ![pixel](https://evil.example/p.png) <https://evil.example>',
  '<script>alert(1)</script><img src=x onerror=alert(1)> &lt;b&gt; &#x3c;i&#62;',
  '`` ` ``` **bold** _under_ __double__ ~~gone~~ | cell | \\',
  'see http://evil.example/a or www.evil.example',
  '## Cause\n\n- **Where**: elsewhere',
];

function poisoned(poison: string): Report {
  const [at, evidence] = ['2026-11-20T00:00:00.000Z', 'E1'];
  const node = { id: 'device:7', name: poison, kind: poison };
  return {
    ...notStarted(7),
    id: 1,
    status: 'ready',
    verdict: 'root_cause',
    summary: `Cause: ${poison}`,
    degraded_reason: poison,
    ready_at: at,
    engine_version: '1',
    root_cause: {
      node,
      category: 'unknown',
      since: at,
      text: poison,
      indicator: {
        evidence,
        kind: 'log',
        name: poison,
        usual: 1,
        worst: 2,
        deviation: 3,
        since: at,
      },
    },
    chain: [poison],
    timeline: [{ at, node: 'device:7', kind: 'log', text: poison, evidence: [evidence] }],
    claims: [
      {
        id: 'C1',
        text: poison,
        evidence_ids: [evidence],
        assertion: null,
        origin: 'model',
        status: 'unverified',
        checked_value: null,
      },
    ],
    changes: [
      { at, kind: 'deploy', node: null, title: poison, score: 1, before_seconds: 60, evidence },
    ],
    ruled_out: [{ node: 'x', node_name: poison, reason: 'normal', text: poison, evidence: [] }],
    not_seen: [{ kind: 'log', node: poison, reason: 'down', text: poison }],
    related_incidents: [
      { incident_id: 2, investigation_id: null, why: 'same_host', summary: poison },
    ],
    suggested_actions: [
      { label: poison, class: 'safe', tool: null, args: null, link: poison, why: poison },
    ],
    runbook: {
      url: poison,
      matched_doc: {
        document_id: 1,
        path: poison,
        title: poison,
        heading: poison,
        excerpt: poison,
      },
    },
    evidence: [
      {
        id: evidence,
        kind: 'log',
        source: poison,
        query: `{a="${poison}"}`,
        window: { from: at, to: at },
        fetched_at: at,
        digest: {},
        sha256: 'a'.repeat(64),
        settled: null,
        redactions: 0,
        truncated: false,
        trust: 'untrusted',
        again: '/api/v1/investigations/1/evidence/E1/again',
      },
    ],
  };
}

/** Signs that steer a terminal, or the order in which a line is read. */
const steering = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Returns what a markdown reader takes for more than words: without what is escaped, and without
 * code blocks.
 */
function marksIn(markdown: string): string {
  const prose = markdown.replaceAll(/\n {2}(`{3,})\n[^]*?\n {2}\1(?=\n)/g, '');
  return prose.replaceAll(/\\[!-/:-@[-`{-~]/g, '').replaceAll(/\]\(\/ui\/[\w/?=&.%-]*\)/g, ']');
}

test('poison in names, lines, labels and links has no meaning in the markdown of a report', () => {
  const honest = marksIn(markdownOf(poisoned('honest')));
  for (const poison of poisons) {
    const markdown = markdownOf(poisoned(poison));
    assert.doesNotMatch(markdown, steering);
    const marks = marksIn(markdown);
    const headings = (of: string): readonly string[] =>
      of.split('\n').filter((line) => /^ {0,3}#/.test(line));
    assert.deepEqual(headings(marks), headings(honest), poison);
    assert.doesNotMatch(marks, /<|\]\(|!\[|https?:\/\/|www\.|&#?\w+;|~~/, poison);
    assert.equal(marks.match(/\*\*/g)!.length, honest.match(/\*\*/g)!.length, poison);
    assert.equal(
      marks.split('\n').length,
      honest.split('\n').length,
      `${poison} makes lines of its own`,
    );
  }
});

test('it does not steer the terminal that prints the text, in which nothing is escaped', () => {
  for (const poison of poisons) {
    assert.doesNotMatch(textOf(poisoned(poison), 'https://svc.example'), steering);
  }
  assert.match(
    textOf(poisoned('CRON[4211]: a_b *c*'), 'https://svc.example'),
    /\n- 2026-11-20T00:00:00\.000Z CRON\[4211\]: a_b \*c\* \[E1\]\n/,
  );
});

test('a query is shown whole, however long it is and whatever stands in it', () => {
  const query = `sum(rate(x{a=~"${'web-0001|'.repeat(400)}"}[5m])) # \`\`\` not the end`;
  const one = poisoned('x');
  const report = { ...one, evidence: [{ ...one.evidence[0]!, query }] };
  assert.ok(markdownOf(report).includes(`\n  \`\`\`\`\n  ${query}\n  \`\`\`\`\n`));
  assert.ok(textOf(report, '').includes(`\n    ${query}\n`));
});

test('documents are named so that they open: a page of the console in markdown, a command in a terminal', () => {
  const action = {
    label: 'Read the playbook',
    class: 'safe' as const,
    tool: null,
    args: null,
    link: 'playbook://hosts/disk-full.md',
    why: 'it complains',
  };
  const look = { ...action, label: 'Look at it', link: '/ui/explore?q=up' };
  const report: Report = { ...poisoned('x'), suggested_actions: [look, action], runbook: null };
  assert.match(
    markdownOf(report),
    /\n- \[Read the playbook\]\(\/ui\/knowledge\?read=vault%2Fhosts%2Fdisk-full\.md\): it complains\n- \[Look at it\]/,
  );
  const text = textOf(report, 'https://svc.example');
  assert.match(
    text,
    /\n- Read the playbook \(svc knowledge show vault\/hosts\/disk-full\.md\): it complains\n- Look at it \(https:\/\/svc\.example\/ui\/explore\?q=up\)/,
  );
});

test('changes that differ in a number alone are told once, with how many there were', () => {
  const one = poisoned('x');
  const change = (number: number) => ({
    ...one.changes[0]!,
    title: `topology:relations of topology ${number} by operator`,
  });
  const text = textOf(
    {
      ...one,
      changes: [change(12), change(11), change(10), { ...change(9), title: 'deploy of shop' }],
    },
    '',
  );
  assert.match(
    text,
    /\n- \S+ deploy: topology:relations of topology 12 by operator, 1 min before, and 2 more like it \[E1\]\n- \S+ deploy: deploy of shop, 1 min before \[E1\]\n/,
  );
});
