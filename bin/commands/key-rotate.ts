import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { withProgress } from '../cli/progress.ts';

interface Rotation {
  readonly kid: string;
  readonly resealed: number;
  readonly unreadable: number;
  readonly unused: readonly string[];
}

export const command: Command = {
  operands: [],
  options: houseOptions,
  about:
    'svc serves on meanwhile, and goes on by itself when it is interrupted. Exit code 1 when a secret cannot be opened. Keep a copy of the new key file where the old one is kept.',
  example: 'svc key rotate',

  async run(call) {
    const house = await openHouse(call);
    const rotation = await withProgress('Sealing secrets again', () => house.post<Rotation>('/api/v1/keys/rotate'));
    return { data: rotation, text: () => page(rotation), code: rotation.unreadable === 0 ? 0 : 1 };
  },
};

function page({ kid, resealed, unreadable, unused }: Rotation): string {
  return [
    `Key ${kid} seals from now on; secrets sealed again with it: ${resealed}`,
    ...(unreadable === 0 ? [] : [`Secrets that no key opens, left as they are: ${unreadable}. "svc setting list" and the log name them; enter them again`]),
    ...(unused.length === 0 ? [] : [`No longer needed: ${unused.join(', ')}. The next start retires it to keys/retired.key, or take it out of SVC_SECRET_KEY`]),
  ].join('\n');
}
