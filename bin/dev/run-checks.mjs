// Types, lint and format, side by side. What was clean is remembered, so that only what may have changed is looked at with its types.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { staleFiles } from './stale-files.mjs';

const deadlineMs = 5 * 60_000;
/** Max changed files to lint separately; more are faster linted as a whole. */
const mostFiles = 800;

/** Yields one result a tool, as each ends. `all`: nothing that an earlier check has found counts. `cache`: where that is kept. */
export async function runChecks(root, { all, cache }) {
  mkdirSync(cache, { recursive: true });
  const types = join(cache, 'types.tsbuildinfo');
  const record = join(cache, 'type-aware-lint.json');
  if (all) {
    rmSync(types, { force: true });
    rmSync(record, { force: true });
  }
  const stale = staleFiles(root, record);
  const tools = [
    {
      name: 'types',
      command: ['tsc', '-p', '.', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', types],
    },
    ...browserProjects(root).map((project) => ({
      name: `types of ${project}`,
      command: ['tsc', '-p', project, '--pretty', 'false'],
    })),
    { name: 'lint', command: ['oxlint', '--deny-warnings'] },
    { name: 'typed lint', command: typedLint(stale.files), clean: stale.clean },
    { name: 'format', command: ['oxfmt', '--check', '.'], fix: 'npm run format' },
  ];
  return await Promise.all(tools.map((tool) => runTool(root, tool)));
}

/**
 * Returns the projects of browser code, which has types of its own: a page has no process, and a
 * plugin no document.
 */
function browserProjects(root) {
  const plugins = join(root, 'plugins');
  const names = existsSync(plugins) ? readdirSync(plugins) : [];
  return names
    .map((name) => join('plugins', name, 'web'))
    .filter((folder) => existsSync(join(root, folder, 'tsconfig.json')));
}

/** Undefined when every file is as it was when it was clean. */
function typedLint(files) {
  const command = ['oxlint', '--type-aware', '--deny-warnings', '--no-error-on-unmatched-pattern'];
  if (files === undefined || files.length > mostFiles) {
    return command;
  }
  return files.length === 0 ? undefined : [...command, ...files];
}

async function runTool(root, { command, clean, ...tool }) {
  const started = performance.now();
  const { code, output } =
    command === undefined ? { code: 0, output: '' } : await run(root, command);
  if (code === 0) {
    clean?.();
  }
  return { ...tool, code, output, ms: performance.now() - started };
}

function run(root, [name, ...args]) {
  const child = spawn(join(root, 'node_modules/.bin', name), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const keep = (chunk) => (output += chunk);
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.once('error', (error) => keep(error.message));
  return new Promise((settle) => {
    child.once('close', (code, signal) => {
      if (signal !== null) {
        keep(`\n${name} was stopped by ${signal}; its limit is ${deadlineMs / 60_000} minutes.`);
      }
      settle({ code, output });
    });
  });
}
