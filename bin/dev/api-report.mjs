// `npm run api-report`: writes the public surface of core/sdk, as the compiler sees it, to docs/api-report.md.
// With --check it writes nothing and fails when the page differs: a change of the contract is then seen in the diff.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'docs', 'api-report.md');

const report = apiReport();
if (!process.argv.includes('--check')) {
  writeFileSync(page, report);
} else if (!existsSync(page) || report !== readFileSync(page, 'utf8')) {
  console.error(
    'The public surface of core/sdk differs from docs/api-report.md. If the change is intended, run "npm run api-report" and commit the page.',
  );
  process.exitCode = 1;
}

function apiReport() {
  const declarations = mkdtempSync(join(tmpdir(), 'svc-api-'));
  try {
    declare(declarations);
    const index = readFileSync(join(declarations, 'index.d.ts'), 'utf8');
    const modules = [
      'index',
      ...[...index.matchAll(/from '\.\/(.+?)\.ts'/g)].map((match) => match[1]),
    ];
    const sections = modules.map(
      (name) =>
        `## ${name}\n\n\`\`\`ts\n${readFileSync(join(declarations, `${name}.d.ts`), 'utf8').trimEnd()}\n\`\`\`\n`,
    );
    return `# API report of core/sdk\n\nThe API for plugins. Written by \`npm run api-report\`, checked by a test; never edited by hand.\n\n${sections.join('\n')}`;
  } finally {
    rmSync(declarations, { recursive: true });
  }
}

/** Declarations with their comments: what a member promises is part of the contract, and authors read it here. */
function declare(outDir) {
  const config = join(outDir, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir,
    rootDir: join(root, 'core/sdk'),
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: [],
      files: [join(root, 'core/sdk/index.ts')],
    }),
  );
  const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', config], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (tsc.status !== 0) {
    throw new Error(
      `core/sdk does not compile, so its API cannot be reported:\n${tsc.stdout}${tsc.stderr}`,
    );
  }
}
