import type { DropInFiles } from 'svc/contracts/drop-ins';
import type { KnownPersona } from 'svc/contracts/persona';
import {
  covers,
  type Handle,
  listRoute,
  pageOfList,
  type Principal,
  route,
  type RouteDeclaration,
  timestamp,
} from 'svc/sdk';
import { Type } from 'typebox';

import type { Conditions } from './conditions.ts';
import type { Directory } from './directory.ts';
import { errors } from './errors.ts';
import type { OwnPersonas } from './own-personas.ts';
import {
  NewPersona,
  noPersona,
  PersonaChange,
  PersonaDetail,
  PersonaItem,
  RouteAnswer,
  RouteQuestion,
  shownPersona,
} from './schema.ts';

const Named = Type.Object({ name: Type.String({ maxLength: 64 }) });
const replaces = 'persona:replace';
const ListQuery = Type.Object({
  usable: Type.Optional(
    Type.Boolean({
      description:
        'Only personas that work here. By default, the list also includes personas that do not work and unreadable files, each with its problem.',
    }),
  ),
  troubled: Type.Optional(
    Type.Boolean({
      description: 'Only personas with a problem or with missing tools.',
    }),
  ),
});

export interface PersonaRoutesParts {
  readonly directory: Directory;
  readonly own: OwnPersonas;
  readonly files: Handle<DropInFiles>;
  readonly conditions: Conditions;
}

export function personaRoutes({
  directory,
  own,
  files,
  conditions,
}: PersonaRoutesParts): readonly RouteDeclaration[] {
  const item = (persona: KnownPersona) =>
    shownPersona(persona, {
      own: persona.source === 'user' ? own.all.get(persona.name) : undefined,
      troubles: troublesOf(files, persona),
      strange: conditions.strangeTools(persona),
    });
  const detail = (name: string) => {
    const persona = found(directory, name);
    return { ...item(persona), body: persona.body };
  };
  return [
    listedRoute(directory, files, item),
    route({
      method: 'GET',
      path: '/api/v1/agents/{name}',
      access: 'any',
      devices: 'none',
      summary: 'Get a persona with its system prompt',
      params: Named,
      response: PersonaDetail,
      errors: ['not_found'],
      handle: ({ params }) => detail(params.name),
    }),
    questionRoute(directory),
    deletionRoute(directory, own),
    ...customRoutes(directory, own, detail),
  ];
}

const listedRoute = (
  directory: Directory,
  files: Handle<DropInFiles>,
  item: (persona: KnownPersona) => ReturnType<typeof shownPersona>,
): RouteDeclaration =>
  listRoute({
    path: '/api/v1/agents',
    access: 'any',
    devices: 'none',
    summary: 'List personas',
    query: ListQuery,
    items: PersonaItem,
    handle({ query: { usable = false, troubled = false }, page }) {
      const all = usable
        ? directory.list().filter(({ unmet }) => unmet.length === 0)
        : [...directory.list(), ...unreadable(files, directory)];
      const shown = all
        .map(item)
        .filter(
          ({ problem, unknown_tools: strange }) =>
            !troubled || problem !== '' || strange.length > 0,
        );
      return pageOfList(shown, ({ name }) => name, page);
    },
  });

const questionRoute = (directory: Directory): RouteDeclaration =>
  route({
    method: 'POST',
    path: '/api/v1/agents/route',
    access: 'any',
    devices: 'narrowed',
    summary: 'Find the persona that would answer a question, without using a model',
    body: RouteQuestion,
    response: RouteAnswer,
    status: 200,
    audited: false,
    errors: ['not_found'],
    async handle({ body, principal }) {
      const { persona, why, clear, candidates } = await directory.route(body.question, principal);
      return { persona: persona.name, why, clear, candidates: [...candidates] };
    },
  });

const deletionRoute = (directory: Directory, own: OwnPersonas): RouteDeclaration =>
  route({
    method: 'DELETE',
    path: '/api/v1/agents/{name}',
    access: 'agent:delete',
    summary: 'Delete a persona by name',
    description:
      'Deletes a user-created persona. One from a plugin or a file is removed with that plugin or file; deleting it here is refused with an error that explains what to do instead.',
    params: Named,
    errors: ['not_found', 'conflict'],
    async handle({ params, principal, note }) {
      note({ resourceType: 'persona', resourceId: params.name });
      refuseForeign(found(directory, params.name));
      requireOwnName(directory, params.name, principal);
      await own.remove(params.name);
    },
  });

function customRoutes(
  directory: Directory,
  own: OwnPersonas,
  detail: (name: string) => Readonly<Record<string, unknown>>,
): readonly RouteDeclaration[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/agents/custom',
      access: 'agent:create',
      brief: ['name'],
      summary: 'Create a persona',
      description:
        'A persona with the same name as one from a plugin or a file replaces it for all users, which requires persona:replace.',
      body: NewPersona,
      response: Type.Record(Type.String(), Type.Unknown()),
      status: 201,
      errors: ['conflict'],
      async handle({ body, principal, note }) {
        requireOwnName(directory, body.name, principal);
        requireOwnLook(directory, body.name);
        const { persona } = await own.create(body);
        note({ resourceType: 'persona', resourceId: persona.name, after: persona });
        return detail(persona.name);
      },
    }),
    route({
      method: 'PATCH',
      path: '/api/v1/agents/custom/{name}',
      ifMatch: true,
      access: 'agent:update',
      brief: ['name'],
      summary: 'Update a user-created persona; omitted fields stay unchanged',
      params: Named,
      body: PersonaChange,
      response: Type.Record(Type.String(), Type.Unknown()),
      errors: ['not_found', 'conflict'],
      async handle({ params, body, principal, note, requireMatch }) {
        requireOwnName(directory, params.name, principal);
        const before = own.all.get(params.name)?.persona;
        const { persona } = await own.update(params.name, body, requireMatch, timestamp);
        note({ resourceType: 'persona', resourceId: params.name, before, after: persona });
        return detail(params.name);
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/agents/custom/{name}',
      access: 'agent:delete',
      summary: 'Delete a user-created persona; the one it replaced becomes active again',
      params: Named,
      errors: ['not_found'],
      async handle({ params, principal, note }) {
        requireOwnName(directory, params.name, principal);
        note({
          resourceType: 'persona',
          resourceId: params.name,
          before: own.all.get(params.name)?.persona,
        });
        await own.remove(params.name);
      },
    }),
  ];
}

const filesOf = (files: Handle<DropInFiles>) =>
  files.available
    ? files
        .get()
        .list()
        .filter(({ kind }) => kind === 'persona')
    : [];

/** Returns the problems of files with the name of an active persona: of its own file, and of others that it keeps out. */
const troublesOf = (
  files: Handle<DropInFiles>,
  { name, source }: Pick<KnownPersona, 'name' | 'source'>,
): readonly string[] =>
  filesOf(files)
    .filter((one) => one.name === name)
    .flatMap(({ state, file, error = `${file}: it cannot be read` }) =>
      state === 'broken'
        ? [`a file is not used: ${error}`]
        : state === 'stale' && source === 'disk'
          ? [`its file cannot be read, and the last good version is used: ${error}`]
          : [],
    );

/** Files that have never been a persona, under the names of the files: who wrote one looks for it here. */
const unreadable = (files: Handle<DropInFiles>, directory: Directory): readonly KnownPersona[] =>
  filesOf(files).flatMap(({ name, file, state, error = 'it cannot be read' }) =>
    state === 'broken' && directory.find(name) === undefined
      ? [{ ...noPersona, name, unmet: [error.startsWith(file) ? error : `${file}: ${error}`] }]
      : [],
  );

function found(directory: Directory, name: string): KnownPersona {
  const persona = directory.find(name);
  if (!persona) {
    throw errors.no_persona({ name });
  }
  return persona;
}

/** Personas are everybody's: one in the place of another changes what the others are answered by. */
function requireOwnName(directory: Directory, name: string, { grants }: Principal): void {
  const taken = directory.published(name);
  if (taken !== undefined && !grants.some((grant) => covers(grant, replaces))) {
    const of = taken === 'builtin' ? 'comes with a plugin' : 'comes from a file';
    throw errors.name_taken({ name, of, replaces });
  }
}

function requireOwnLook(directory: Directory, name: string): void {
  const other = directory.mistakenFor(name);
  if (other !== undefined) {
    throw errors.look_alike({ name, other });
  }
}

function refuseForeign({ name, source }: KnownPersona): void {
  if (source === 'builtin') {
    throw errors.of_plugin({ name });
  }
  if (source === 'disk') {
    throw errors.of_file({ name });
  }
}
