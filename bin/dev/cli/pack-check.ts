import type { Command } from 'svc/cli';
import { command as checkPlugin } from './plugin-check.ts';

export const command: Command = {
  ...checkPlugin,
  about:
    'Reads manifest, hashes, code, migrations, personas and skills as a start would, and runs nothing. What the scan says, "svc market preview" shows.',
  example: 'svc pack check ~/packs/greeter',
};
