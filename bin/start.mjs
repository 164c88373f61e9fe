// svc from source, in one process: sets up what is missing, then runs svc.ts, compiled once for each state of the sources.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { hurry, isAgent, slimDown } from './product/agent.mjs';
import { CodeCache } from './product/code-cache.mjs';
import { compiledHost } from './dev/compile.mjs';
import { installHooks } from './dev/install-hooks.mjs';
import { ensureInstalled } from './dev/setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

// The agent has a program of its own, without what only the other commands need: it must be small.
const agent = isAgent(process.argv.slice(2));
if (agent) {
  slimDown();
} else {
  hurry();
}

await ensureInstalled().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
// That is `npm start`; the other commands should not wait for git.
if (process.argv[2] === 'serve') {
  installHooks(root);
}

await start();

/**
 * Starts the program; in a function, so that a text of ten megabytes is not retained by the module.
 */
async function start() {
  const { compiled, text } = await program();
  if (text !== undefined) {
    const codeCache = new CodeCache(join(dirname(compiled), 'code'));
    const module = { exports: {} };
    const main = codeCache.functionOf(text, compiled);
    main.call(
      module.exports,
      module.exports,
      createRequire(compiled),
      module,
      compiled,
      dirname(compiled),
      codeCache,
    );
  } else if (compiled) {
    await import(pathToFileURL(compiled).href);
  } else {
    const { register } = await import('tsx/esm/api');
    // Named, because tsx would look for it in the working directory and svc may be started from anywhere.
    process.setSourceMapsEnabled(true);
    register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
    await import('./svc.ts');
  }
}

/**
 * Loads the program; if another start deletes the folder between the check and the reading, it is
 * compiled again.
 */
async function program(tries = 3) {
  const compiled = await compiledHost(root, agent ? 'edge' : 'svc');
  try {
    return {
      compiled,
      text: compiled?.endsWith('.cjs') ? readFileSync(compiled, 'utf8') : undefined,
    };
  } catch (error) {
    if (error.code !== 'ENOENT' || tries === 1) {
      throw error;
    }
    return await program(tries - 1);
  }
}
