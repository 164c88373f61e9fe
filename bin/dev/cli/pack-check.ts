import type { Command } from 'svc/cli';
import { command as checkPlugin } from './plugin-check.ts';

export const command: Command = {
  ...checkPlugin,
  about:
    'Checks the manifest, hashes, code, migrations, personas and skills as at startup, without running anything. It also names texts that still describe the pack as "svc pack new" created it. "svc market preview" shows the result of the scan.',
  example: 'svc pack check ~/packs/greeter',
};
