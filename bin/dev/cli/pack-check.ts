import type { Command } from 'svc/cli';
import { command as checkPlugin } from './plugin-check.ts';

export const command: Command = {
  ...checkPlugin,
  about:
    'Checks manifest, hashes, code, migrations, personas and skills as a start would, without running anything. "svc market preview" shows the scan.',
  example: 'svc pack check ~/packs/greeter',
};
