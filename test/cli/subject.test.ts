import 'reflect-metadata';

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { shortNumber, sparkline } from '../../plugins/metricsdb/cli/sparkline.ts';
import { spanOf } from 'svc/cli';
import { serving, svc } from './launcher.ts';

test('a past is drawn as a line, and numbers are as short as people write them', () => {
  assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7]), '▁▂▃▄▅▆▇█');
  assert.equal(sparkline([1, undefined, 1, Number.NaN]), '▄ ▄ ');
  assert.equal(sparkline([]), '');
  assert.deepEqual([0, 1 / 3, 123_456_789, 1e-7, Number.POSITIVE_INFINITY].map(shortNumber), [
    '0',
    '0.333333',
    '123456789',
    '1.000e-7',
    'Infinity',
  ]);
  assert.deepEqual([spanOf('last', '90s'), spanOf('last', '7d')], [90_000, 604_800_000]);
  for (const wrong of ['', '5', '1w', '0m', '367d', '-1h']) {
    assert.throws(() => spanOf('last', wrong), /--last must be a duration such as 15m/);
  }
});

test('the fleet, its numbers, lines, traces and incidents are seen without a written request', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-subject-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const house = await serving(t, dataDir);
  const run = (...args: string[]) => svc([...args, '--data', dataDir]);
  const push = async (path: string, type: string, body: string): Promise<void> => {
    const answer = await fetch(house.url + path, {
      method: 'POST',
      headers: { 'content-type': type, authorization: `Bearer ${house.token}` },
      body,
    });
    assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`);
  };
  // Queries are asked in whole seconds.
  const now = Date.now() - 2_000;
  const samples = Array.from(
    { length: 30 },
    (_, index) => `jobs{queue="mail"} ${index} ${now - (29 - index) * 90_000}`,
  );
  await push('/api/v1/import/prometheus', 'text/plain', `${samples.join('\n')}\n`);
  const lines = [
    [String(BigInt(now - 2_000) * 1_000_000n), 'first \u001b[31mline'],
    [String(BigInt(now - 1_000) * 1_000_000n), 'an error in the mail queue'],
  ];
  await push(
    '/loki/api/v1/push',
    'application/json',
    JSON.stringify({ streams: [{ stream: { service_name: 'mailer' }, values: lines }] }),
  );
  const span = (spanId: string, parentSpanId: string, name: string, from: number, to: number) => ({
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId,
    parentSpanId,
    name,
    kind: 2,
    startTimeUnixNano: String(BigInt(now + from) * 1_000_000n),
    endTimeUnixNano: String(BigInt(now + to) * 1_000_000n),
    status: parentSpanId === '' ? {} : { code: 2 },
  });
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'mailer' } }] };
  const spans = [
    span('eee19b7ec3c1b174', '', 'POST /send', -500, -100),
    span('eee19b7ec3c1b175', 'eee19b7ec3c1b174', 'smtp', -400, -150),
  ];
  await push(
    '/v1/traces',
    'application/json',
    JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }),
  );

  const query = await run('query', 'jobs');
  assert.match(
    query.stdout,
    /^SERIES +NOW +PAST\njobs\{queue="mail"\} +29 +[▁▂▃▄▅▆▇█ ]+$/m,
    query.stdout + query.stderr,
  );
  assert.equal(
    (await run('query', 'jobs', '--json')).json<{ result: unknown[] }>().result.length,
    1,
  );
  assert.match((await run('query', 'no_such_metric')).stdout, /No matching series/);
  const wrong = await run('query', 'sum(');
  assert.deepEqual([wrong.code, wrong.stdout], [4, '']);

  const logs = await run('logs', '{service_name="mailer"}');
  assert.match(
    logs.stdout,
    /^\S+Z {2}mailer {2}first {1,2}\[31mline\n\S+Z {2}mailer {2}an error in the mail queue$/m,
    logs.stdout + logs.stderr,
  );
  assert.match(
    (await run('logs', 'error in the', '-n', '5')).stdout,
    /^\S+Z {2}mailer {2}an error in the mail queue$/m,
  );
  assert.equal(
    (await run('logs', '{service_name="mailer"}', '--lines', '1', '--json')).json<unknown[]>()
      .length,
    1,
  );
  assert.match(
    (await run('logs', 'count_over_time({a="b"}[1m])', '--lines', '0')).stderr,
    /--lines must be/,
  );

  const traces = await run('trace', '{ resource.service.name = "mailer" }');
  assert.match(
    traces.stdout,
    /5b8efff798038103d269b633813fc60c .* mailer +POST \/send/,
    traces.stdout + traces.stderr,
  );
  const trace = await run('trace', '5b8efff798038103d269b633813fc60c');
  assert.match(
    trace.stdout,
    /^mailer POST \/send {2}\+0\.00 ms {2}400 ms\n└─ mailer smtp {2}\+100 ms {2}250 ms {2}ERROR$/m,
    trace.stdout + trace.stderr,
  );

  const enrol = await run('edge', 'enrol', '--name', 'web', '--uses', '3');
  assert.match(
    enrol.stdout,
    /edge install --manager \S+ --token svc_enrol_\S+\n/,
    enrol.stdout + enrol.stderr,
  );
  assert.match((await run('edge', 'enrolments')).stdout, /web +open +0 of 3/);
  assert.match((await run('edge', 'list')).stdout, /^No edges/);
  assert.match(
    (await run('alert', 'list', '--status', 'open,acknowledged')).stdout,
    /No incidents|SUMMARY/,
  );
  assert.deepEqual(
    [
      (await run('alert', 'ack', '999')).code,
      (await run('alert', 'silence', '999', '2h')).code,
      (await run('edge', 'rm', '999')).code,
    ],
    [4, 4, 4],
  );
  assert.match((await run('ask', 'how are you?')).stderr, /No model is configured/);
  const sre = await run('agent', 'show', 'sre');
  assert.match(
    sre.stdout,
    /mode +mutating-with-confirm\n.*\n?tools +agent_ask, /,
    sre.stdout + sre.stderr,
  );
  assert.equal(JSON.parse((await run('agent', 'show', 'sre', '--json')).stdout).name, 'sre');
  // Of edges, of which there is none: named, and no trouble of the persona.
  const troubled = (await run('agent', 'list', '--troubled')).stdout;
  assert.match(troubled, /^network .*\bdns_probe\b/m, troubled);
  assert.doesNotMatch(troubled, /perhaps/);
  assert.match(
    (await run('skill', 'list', '--class', 'mutating')).stdout,
    /^silence_create +tool +manager +mutating/m,
  );
  assert.match((await run('skill', 'show', 'metrics_query')).stdout, /^class +safe\n/m);
  assert.match((await run('approval', 'sign', 'nothing')).stderr, /approval/);
});

test('completion knows every command, for each shell', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-completion-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const script = async (shell: string): Promise<string> =>
    (await svc(['completion', shell], { cwd: folder })).stdout;
  const file = join(folder, 'svc.bash');
  writeFileSync(file, await script('bash'));
  const complete = (...words: string[]): string[] => {
    const line = words.map((word) => `'${word}'`).join(' ');
    const asked = `source ${file}; COMP_WORDS=(svc ${line}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', asked], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    return stdout.trim().split('\n');
  };
  assert.deepEqual(complete('que'), ['query']);
  assert.ok(complete('edge', '').includes('enrol'));
  assert.deepEqual(complete('alert', 'sil'), ['silence']);
  assert.deepEqual(complete('logs', '--fol'), ['--follow']);
  assert.deepEqual(complete('alert', 'list', '--stat'), ['--status']);
  assert.match(await script('zsh'), /^#compdef svc\n/);
  assert.match(
    await script('fish'),
    /^complete -c svc -n '__fish_seen_subcommand_from alert' -a 'silence' -d 'Silence an incident for a set time'$/m,
  );
  const refused = await svc(['completion', 'tcsh'], { cwd: folder });
  assert.match(refused.stderr, /use bash, zsh, fish/);
});
