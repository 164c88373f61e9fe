// `npm run check`: types, lint and format, side by side. A clean tool costs one line, a complaining one shows what it says.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const deadlineMs = 5 * 60_000;

const tools = [
  { name: 'types', command: ['tsc', '-p', '.', '--pretty', 'false'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check', '.'], fix: 'npm run format' },
];

const began = performance.now();
const results = await Promise.all(tools.map(runTool));
for (const { name, code, output, ms, fix } of results) {
  console.log(`${code === 0 ? 'ok    ' : 'failed'}  ${name.padEnd(6)}  ${seconds(ms)}`);
  if (code !== 0) {
    console.log(`${output.trimEnd()}\n${fix === undefined ? '' : `→ ${fix}\n`}`);
  }
}
const failed = results.filter(({ code }) => code !== 0).map(({ name }) => name);
console.log(`${failed.length === 0 ? 'check is clean' : `check failed: ${failed.join(', ')}`} (${seconds(performance.now() - began)})`);
process.exitCode = failed.length === 0 ? 0 : 1;

function runTool(tool) {
  const started = performance.now();
  const [name, ...args] = tool.command;
  const child = spawn(`node_modules/.bin/${name}`, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: deadlineMs, killSignal: 'SIGKILL' });
  let output = '';
  const keep = (chunk) => (output += chunk);
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.once('error', (error) => keep(error.message));
  return new Promise((settle) => {
    child.once('close', (code, signal) => {
      if (signal !== null) {
        keep(`\n${name} was stopped by ${signal}; it has ${deadlineMs / 60_000} minutes.`);
      }
      settle({ ...tool, code, output, ms: performance.now() - started });
    });
  });
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
