// `npm run newest-node [-- part-of-a-path …]`: tests what is committed, in a clone, with the newest
// Node that svc promises to run on.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const version = '24.21.0';

const folder = mkdtempSync(join(tmpdir(), 'svc-newest-node-'));
try {
  const clone = join(folder, 'svc');
  run('git', ['clone', '--quiet', root, clone]);
  run('npm', ['install', '--silent', '--prefix', folder, `node@${version}`]);
  const bin = join(folder, 'node_modules', 'node', 'bin');
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  // Headers of this Node are of no use to the other one.
  delete env.npm_config_nodedir;
  run('npm', ['test', '--', ...process.argv.slice(2)], { cwd: clone, env });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(command, args, options) {
  const { status, signal, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status !== 0) {
    throw new Error(
      `${command} ${args.join(' ')}: ${error?.message ?? `ended with ${signal ?? status}`}`,
    );
  }
}
