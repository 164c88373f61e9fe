import { type ToolSkill, toolSkill } from 'svc/sdk';
import { Type } from 'typebox';

import type { Devices } from './devices.ts';

const common = { scope: 'manager', class: 'safe', tier: 'core', devices: 'narrowed' } as const;

const List = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only devices whose name, host name or address contains this text.',
    }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: 320, description: 'A tag, such as env or env=prod.' }),
  ),
  role: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  online: Type.Optional(Type.Boolean()),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 30 }),
});

/** Skills by which agents and people query devices. */
export const deviceSkills = (devices: Devices): readonly ToolSkill[] => [
  toolSkill({
    ...common,
    key: 'devices_list',
    name: 'Devices',
    description: 'Machines in the fleet; filter by name, tag, role, or whether they are online.',
    params: List,
    run: async ({ q, tag, role, online, limit }, { principal }) => {
      const [key = '', ...rest] = tag?.split('=') ?? [];
      const tags =
        tag === undefined ? [] : [{ key, value: rest.length === 0 ? undefined : rest.join('=') }];
      const { items, total } = await devices.list(
        principal,
        { q, tags, roles: role === undefined ? [] : [role], online },
        { limit },
      );
      return { total, devices: items };
    },
  }),
  toolSkill({
    ...common,
    key: 'device_get',
    name: 'One device',
    description: 'Everything known about one machine, and which edges watch it.',
    params: Type.Object({ device_id: Type.Integer({ minimum: 1 }) }),
    run: async ({ device_id: id }, { principal }) => {
      const device = await devices.get(principal, id);
      return { device, edges: (await devices.edges(principal, id, { limit: 20 })).items };
    },
  }),
];
