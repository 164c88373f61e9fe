import type { ChannelType, DeclaredChannelType, PostedChannelType } from 'svc/contracts/notify';
import { type Contribution, type Logger, messageOf, type OpenPoint } from 'svc/sdk';

import { errors } from './errors.ts';
import { dingtalk } from './dingtalk.ts';
import { readType } from './declared.ts';
import { feishu } from './feishu.ts';
import { slack } from './slack.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';
import { wecom } from './wecom.ts';

export const shippedTypes: Readonly<Record<string, PostedChannelType>> = {
  webhook,
  feishu,
  slack,
  dingtalk,
  wecom,
  telegram,
  pagerduty,
  opsgenie,
};

/** The types of channels there are at this moment. */
export interface ChannelTypeRegistry {
  find(id: string): ChannelType | undefined;
  /** The id and type for any of its names; throws invalid_argument with all that are known. */
  named(name: string): { readonly id: string; readonly type: ChannelType };
}

type Contributed = Contribution<ChannelType | DeclaredChannelType>;

/** The types that plugins and packs contribute; a description is compiled once, and left out when it is wrong. */
export class ContributedTypes implements ChannelTypeRegistry {
  readonly #point: OpenPoint<ChannelType | DeclaredChannelType>;
  readonly #log: Logger;
  readonly #compiled = new WeakMap<object, ChannelType | undefined>();

  constructor(point: OpenPoint<ChannelType | DeclaredChannelType>, log: Logger) {
    this.#point = point;
    this.#log = log;
  }

  find(id: string): ChannelType | undefined {
    return this.#all().find(([known]) => known === id)?.[1];
  }

  named(name: string): { readonly id: string; readonly type: ChannelType } {
    const types = this.#all();
    const found =
      types.find(([id]) => id === name) ?? types.find(([, { aliases }]) => aliases?.includes(name));
    if (found === undefined) {
      const message = `is one of ${types.map(([id]) => id).join(', ')}`;
      throw errors.unknown_type({ message }, { details: [{ path: '/channel_type', message }] });
    }
    return { id: found[0], type: found[1] };
  }

  #all(): (readonly [string, ChannelType])[] {
    return this.#point.list().flatMap((contribution) => {
      const type = this.#typeOf(contribution);
      return type === undefined ? [] : [[contribution.id, type] as const];
    });
  }

  #typeOf({ id, pluginId, value }: Contributed): ChannelType | undefined {
    if (!this.#compiled.has(value)) {
      try {
        this.#compiled.set(value, readType(value));
      } catch (error) {
        this.#compiled.set(value, undefined);
        this.#log.warn(
          {
            event: 'notify.channel_type_invalid',
            channel_type: id,
            plugin: pluginId,
            cause: messageOf(error),
          },
          'channel type is invalid and was skipped; correct it in its plugin',
        );
      }
    }
    return this.#compiled.get(value);
  }
}
