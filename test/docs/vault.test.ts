import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { projectRoot } from '../house/source.ts';
import { playbooks } from './playbooks.ts';

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');

const headings = [
  'Symptom',
  'First three readings',
  'Causes, likeliest first',
  'When to call someone',
  'Fix',
  'Verify',
  'How to prevent it',
];

test('there are 220 playbooks or more, each with a title of its own, tags, all headings in their order, and as much as a tired person reads', () => {
  assert.ok(playbooks.length >= 220, `${playbooks.length} playbooks`);
  assert.equal(
    new Set(playbooks.map(({ title }) => title)).size,
    playbooks.length,
    'two playbooks have one title',
  );
  for (const { path, text, title, tags, body } of playbooks) {
    assert.match(path, /^vault\/[a-z]+\/[a-z0-9-]+\.md$/);
    assert.ok(
      title.length > 5 && title.length < 80 && tags.length >= 2,
      `${path} has no title and tags`,
    );
    assert.deepEqual(
      [...body.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
      headings,
      path,
    );
    const lines = text.split('\n').length - 1;
    assert.ok(lines >= 40 && lines <= 105, `${path} has ${lines} lines`);
    const readings = body.slice(
      body.indexOf(`## ${headings[1]}`),
      body.indexOf(`## ${headings[2]}`),
    );
    assert.deepEqual(readings.match(/^\d(?=\. )/gm), ['1', '2', '3'], `${path} has three readings`);
    assert.ok(
      (readings.match(/^ *```(?:promql|logql|traceql)$/gm) ?? []).length >= 3,
      `${path} has no query for each reading`,
    );
  }
});

/** Commands that change a host, a database or a cluster, where one stands at the start of a line. */
const changing =
  /^\s*(?:sudo )?(?:systemctl (?:restart|stop|start|reload)|kubectl (?:rollout undo|delete|patch|drain|cordon|set|apply)|docker (?:update|image prune|builder prune)|sysctl -w|lvextend|truncate|apt-get install|redis-cli config set|ethtool -[GLs] |ip link set|nft (?:add|insert)|mdadm .*--(?:add|fail|re-add)|svc (?:setting set|edge (?:upgrade |rotate|uninstall)|store (?:drop|mend)|backup restore|token revoke|plugin reload))|pg_(?:terminate_backend|drop_replication_slot)\(|mysql .*-e "(?:kill|alter)|-X (?:DELETE|PUT) /m;

test('each playbook lists contacts, and each step that makes a change states its risk, duration and undo', () => {
  let steps = 0;
  const silent: string[] = [];
  for (const { path, body } of playbooks) {
    const [call = '', fix = ''] = ['When to call someone', 'Fix'].map((heading) => {
      const from = body.indexOf(`## ${heading}\n`);
      return body.slice(from, body.indexOf('\n## ', from));
    });
    assert.ok(
      (call.match(/^- .+:.+/gm) ?? []).length > 0,
      `${path}: "When to call someone" lists no contact`,
    );
    for (const step of fix.split(/^(?=- )/m)) {
      const [cost] = /^ {2}Risk: [^]*/m.exec(step) ?? [];
      if (cost !== undefined) {
        assert.match(cost, /^ {2}Risk: [^]+\sTakes: [^]+\sUndo: [^]+\.\n*$/, `${path}: ${cost}`);
        steps++;
      }
      if (cost === undefined && changing.test(step)) {
        silent.push(`${path}: ${step.split('\n')[0]}`);
      }
    }
  }
  assert.deepEqual(silent, []);
  assert.ok(steps > 550, `${steps} steps`);
});

test('each playbook that another one points to exists', () => {
  const titles = new Set(playbooks.map(({ title }) => title));
  for (const { path, body } of playbooks) {
    for (const [, title] of body.replaceAll(/\n\s*/g, ' ').matchAll(/[.;,(:] ?see "([^"]+)"/gi)) {
      assert.ok(
        titles.has(title!) || title === 'Back up, upgrade, roll back',
        `${path} points to ${title}`,
      );
    }
  }
});

test('no paragraph stands in two playbooks', () => {
  const seen = new Map<string, string>();
  for (const { path, body } of playbooks) {
    const prose = body.replaceAll(/^ *```[^]*?^ *```$/gm, '').split(/\n{2,}/);
    for (const paragraph of prose.filter((text) => text.length > 120)) {
      assert.equal(
        seen.get(paragraph),
        undefined,
        `${path} says word for word: ${paragraph.slice(0, 60)}`,
      );
      seen.set(paragraph, path);
    }
  }
});

test('each rule that comes with svc links to a playbook, which has short steps for messages as well', () => {
  const steps = JSON.parse(read('plugins/alert/rules/runbooks.json')) as Record<string, string[]>;
  const rules = ['checks', 'hosts', 'network', 'pipelines', 'system'].flatMap(
    (name) =>
      JSON.parse(read(`plugins/alert/rules/${name}.json`)) as {
        rule_key: string;
        runbook_url: string;
      }[],
  );
  assert.ok(rules.length > 30);
  for (const { rule_key: key, runbook_url: url } of rules) {
    const [, path = ''] = /^playbook:\/\/(.+)$/.exec(url) ?? [];
    assert.ok(
      existsSync(join(projectRoot, 'vault', path)) && path !== '',
      `${key} links to ${url}`,
    );
    assert.ok((steps[path]?.length ?? 0) >= 3, `${path} has no steps in runbooks.json`);
    assert.ok(
      read(`vault/${path}`).includes(`\`${key}\``) ||
        rules.filter(({ runbook_url: other }) => other === url).length > 1,
      `${path} does not name ${key}`,
    );
  }
  assert.deepEqual(
    Object.keys(steps).filter((path) => !existsSync(join(projectRoot, 'vault', path))),
    [],
  );
});

test('each host check of the investigator links to a playbook that exists', () => {
  const checks = Object.entries(
    JSON.parse(read('plugins/investigate/checks/host-checks.json')) as Record<
      string,
      { runbook?: string }
    >,
  );
  assert.ok(checks.length >= 30);
  for (const [name, { runbook = '' }] of checks) {
    const [, path = ''] = /^playbook:\/\/(.+)$/.exec(runbook) ?? [];
    assert.ok(
      path !== '' && existsSync(join(projectRoot, 'vault', path)),
      `${name} links to ${runbook}`,
    );
  }
});

test('the labelled questions name playbooks that exist, a third is held back, and none is a title', () => {
  const questions = JSON.parse(read('test/fixtures/knowledge/questions.json')) as {
    question: string;
    answers: Record<string, number>;
    held_back: boolean;
  }[];
  assert.equal(questions.length, 150);
  assert.equal(new Set(questions.map(({ question }) => question)).size, 150);
  assert.deepEqual(
    questions.map(({ held_back: heldBack }) => heldBack),
    questions.map((_, index) => index % 3 === 2),
  );
  const titles = new Set(playbooks.map(({ title }) => title.toLowerCase()));
  for (const { question, answers } of questions) {
    assert.ok(!titles.has(question.toLowerCase()), question);
    assert.ok(Object.values(answers).includes(3), `${question} has no right answer`);
    Object.entries(answers).forEach(([path, grade]) =>
      assert.ok(
        [1, 2, 3].includes(grade) && existsSync(join(projectRoot, 'vault', path)),
        `${question}: ${path}`,
      ),
    );
  }
});
