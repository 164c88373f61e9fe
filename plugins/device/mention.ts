import type { MentionType } from 'svc/contracts/mention';
import { isSvcError } from 'svc/sdk';

import type { Devices } from './devices.ts';

/** `@device:7`, found by what a device is called. */
export const deviceMention = (devices: Devices): MentionType => ({
  type: 'device',
  devices: 'narrowed',
  async search(q, principal, limit) {
    const { items } = await devices.list(
      principal,
      { tags: [], roles: [], ...(q !== '' && { q }) },
      { limit },
    );
    return items.map(({ id, display_name: label, hostname, online }) => ({
      type: 'device',
      id: String(id),
      label,
      insert: `@device:${id}`,
      subtitle: `${hostname ?? 'no host name'}, ${online ? 'online' : 'offline'}`,
    }));
  },
  async resolve(id, principal) {
    if (!/^\d{1,15}$/.test(id)) {
      return undefined;
    }
    const found = await devices.get(principal, Number(id)).catch((error: unknown) => {
      if (isSvcError(error) && error.code === 'not_found') {
        return undefined;
      }
      throw error;
    });
    return found && { label: found.display_name, facts: { ...found } };
  },
});
