import type { KnownPersona } from 'svc/contracts/persona';
import { timestamp } from 'svc/sdk';
import { type Static, Type } from 'typebox';

import type { StrangeTool } from './conditions.ts';
import type { OwnPersona } from './own-personas.ts';

const Text = (description: string) => Type.String({ maxLength: 65_536, description });
const Names = (description: string) => Type.Array(Type.String(), { maxItems: 500, description });
const Mode = Type.Union([
  Type.Literal('read-only'),
  Type.Literal('mutating-with-confirm'),
  Type.Literal('dual-sign-required'),
]);
const Anything = Type.Record(Type.String(), Type.Unknown());

const header = {
  name: Type.String({ maxLength: 64 }),
  description: Text('what people read in the picker'),
  when_to_use: Text('which questions are for it'),
  tools: Names('allow-list; empty: every tool that the role of the user can see'),
  disallowed_tools: Names('applied after the allow-list'),
  permission_mode: Mode,
  max_turns: Type.Integer({ description: '0: the value of the setting agent.max_turns' }),
  model: Type.String({ maxLength: 200, description: '<provider>/<model>; empty: the default' }),
  critical_reminder: Text('at the top of every turn'),
  initial_prompt: Text('put before the first message; a template over the spawn context'),
  background: Type.Boolean(),
  omit_agent_md: Type.Boolean(),
  metadata: Anything,
};

const body = { body: Text('the system prompt') };

/** Fields that a caller may write; other keys are kept as `unknown_fields`. */
export const NewPersona = Type.Object(
  {
    ...Type.Partial(Type.Object({ ...header, ...body, unknown_fields: Anything })).properties,
    name: header.name,
    description: header.description,
    when_to_use: header.when_to_use,
  },
  { additionalProperties: true },
);
export const PersonaChange = Type.Partial(
  Type.Object({ ...header, ...body, unknown_fields: Anything }),
  { additionalProperties: true },
);

export const PersonaItem = Type.Object({
  ...header,
  source: Type.Union([Type.Literal('builtin'), Type.Literal('disk'), Type.Literal('user')]),
  pack: Type.Optional(Type.String({ description: 'ID of the pack that it comes with' })),
  unknown_fields: Anything,
  version: Type.Integer({ description: 'Increases with every change' }),
  unmet: Type.Array(Type.String(), {
    description:
      'Conditions in the metadata that are not met here; the persona is then listed but not used to answer questions',
  }),
  unknown_tools: Type.Array(Type.String(), {
    description:
      'Names in tools and disallowed_tools that do not currently exist: misspelt, or from an edge, pack or server that is not available; the persona still works',
  }),
  problem: Type.String({
    description:
      'Problem with the persona: unmet conditions, or an unreadable file, in which case its last good version is used; empty if there is no problem',
  }),
  created_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'null for personas from plugins and files',
  }),
  updated_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
});
export const PersonaDetail = Type.Intersect([PersonaItem, Type.Object(body)]);

export const RouteQuestion = Type.Object({
  question: Type.String({ minLength: 1, maxLength: 4_000 }),
});
export const RouteAnswer = Type.Object({
  persona: Type.String(),
  why: Type.String(),
  clear: Type.Boolean({
    description:
      'Whether one persona matches clearly; otherwise a model chooses, if one is available',
  }),
  candidates: Type.Array(Type.Object({ name: Type.String(), score: Type.Number() })),
});

/** Placeholder shown for an invalid file. */
export const noPersona: KnownPersona = {
  name: '',
  description: '',
  when_to_use: '',
  tools: [],
  disallowed_tools: [],
  permission_mode: 'read-only',
  max_turns: 0,
  model: '',
  critical_reminder: '',
  initial_prompt: '',
  background: false,
  omit_agent_md: false,
  metadata: {},
  unknown: {},
  body: '',
  source: 'disk',
  version: 0,
  unmet: [],
};

/** Findings about a persona besides what it declares. */
export interface PersonaFindings {
  /** When it is the one of a user that serves under the name. */
  readonly own: OwnPersona | undefined;
  /** Problems of files of its name. */
  readonly troubles: readonly string[];
  readonly strange: readonly StrangeTool[];
}

export function shownPersona(
  { unknown, body: _, metadata, tools, disallowed_tools, unmet, ...persona }: KnownPersona,
  { own, troubles, strange }: PersonaFindings,
): Static<typeof PersonaItem> {
  return {
    ...persona,
    unknown_fields: { ...unknown },
    metadata: { ...metadata },
    tools: [...tools],
    disallowed_tools: [...disallowed_tools],
    unmet: [...unmet],
    unknown_tools: strange.map(({ name, meant }) =>
      meant === undefined ? name : `${name} (perhaps ${meant} is meant)`,
    ),
    problem: [...unmet, ...troubles].join('; '),
    created_at: own ? timestamp(own.created_at) : null,
    updated_at: own ? timestamp(own.updated_at) : null,
  };
}
