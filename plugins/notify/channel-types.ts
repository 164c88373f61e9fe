import { type Contribution, type Logger, messageOf, type OpenPoint, SvcError } from 'svc/sdk';

import type { ChannelType, DeclaredChannelType } from './contract.ts';
import { dingtalk } from './types/dingtalk.ts';
import { readType } from './types/declared.ts';
import { feishu } from './types/feishu.ts';
import { slack } from './types/slack.ts';
import { telegram } from './types/telegram.ts';
import { webhook } from './types/webhook.ts';
import { wecom } from './types/wecom.ts';

export const shippedTypes: Readonly<Record<string, ChannelType>> = { webhook, feishu, slack, dingtalk, wecom, telegram };

/** The kinds of channels there are at this moment. */
export interface Kinds {
  find(id: string): ChannelType | undefined;
  /** The id and type for any of its names; throws invalid_argument with all that are known. */
  named(name: string): { readonly id: string; readonly type: ChannelType };
}

export function kindsOf(point: OpenPoint<ChannelType | DeclaredChannelType>, log: Logger): Kinds {
  const read = new WeakMap<object, ChannelType | undefined>();
  const typeOf = ({ id, pluginId, value }: Contribution<ChannelType | DeclaredChannelType>): ChannelType | undefined => {
    if (!read.has(value)) {
      read.set(value, attempt(id, pluginId, value));
    }
    return read.get(value);
  };
  const attempt = (id: string, pluginId: string, value: ChannelType | DeclaredChannelType): ChannelType | undefined => {
    try {
      return readType(value);
    } catch (error) {
      log.warn({ channel_type: id, from: pluginId }, `left out a channel type: ${messageOf(error)}`);
      return undefined;
    }
  };
  const all = (): (readonly [string, ChannelType])[] =>
    point.list().flatMap((contribution) => {
      const type = typeOf(contribution);
      return type === undefined ? [] : [[contribution.id, type] as const];
    });
  return {
    find: (id) => all().find(([known]) => known === id)?.[1],
    named(name) {
      const types = all();
      const found = types.find(([id]) => id === name) ?? types.find(([, { aliases }]) => aliases?.includes(name));
      if (found === undefined) {
        const message = `is one of ${types.map(([id]) => id).join(', ')}`;
        throw new SvcError('invalid_argument', `channel_type ${message}`, { details: [{ path: '/channel_type', message }] });
      }
      return { id: found[0], type: found[1] };
    },
  };
}
