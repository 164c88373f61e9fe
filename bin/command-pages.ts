// `npm run command-pages`: writes every command of a whole svc, as `svc help` tells it, to docs/commands.md.
import 'reflect-metadata';

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { commandPages } from './cli/command-pages.ts';

writeFileSync(fileURLToPath(new URL('../docs/commands.md', import.meta.url)), await commandPages());
