import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { type Command, usageFailure } from 'svc/cli';

export const command: Command = {
  operands: ['<folder>'],
  options: {},
  about:
    "Runs a pack's test/*.test.ts files; each test starts a real svc on its own port with startTestHost from svc/testing.",
  example: 'svc pack test ~/packs/greeter',

  async run(call) {
    const folder = resolve(call.operand(0));
    const home = join(folder, 'test');
    const tests = existsSync(home)
      ? readdirSync(home).filter((name) => name.endsWith('.test.ts'))
      : [];
    if (tests.length === 0) {
      throw usageFailure(
        `${folder} has no test/*.test.ts; "svc pack new" creates a pack with a test`,
      );
    }
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:NODE_TEST_|SVC_)/.test(name)),
    );
    const run = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--test', ...tests.map((name) => join('test', name))],
      { cwd: folder, env, encoding: 'utf8' },
    );
    const ok = run.status === 0;
    return {
      data: { ok, folder, tests, output: run.stdout },
      text: () => `${run.stdout}${run.stderr}`.trim(),
      code: ok ? 0 : 1,
    };
  },
};
