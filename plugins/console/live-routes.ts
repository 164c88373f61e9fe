import type { ConsoleCard, ConsolePage } from 'svc/contracts/console';
import {
  type DeclaredCatalogue,
  eventRoute,
  type OpenPoint,
  type Principal,
  route,
  type RouteDeclaration,
} from 'svc/sdk';
import { Type } from 'typebox';

import type { Changes } from './changes.ts';
import type { Languages } from './languages.ts';

const Nav = Type.Object({
  section: Type.String(),
  title: Type.String(),
  order: Type.Optional(Type.Number()),
});
const Extras = Type.Object({
  rooms: Type.Array(Type.String(), {
    description:
      'Plugins that currently serve routes; the console hides whatever belongs to other plugins',
  }),
  pages: Type.Array(
    Type.Object({
      id: Type.String(),
      path: Type.String(),
      nav: Nav,
      plugin: Type.String(),
      script: Type.String({ description: 'Module that exports mount(element, console)' }),
      style: Type.Optional(Type.String()),
    }),
  ),
  cards: Type.Array(
    Type.Object({
      id: Type.String(),
      title: Type.String(),
      query: Type.String(),
      unit: Type.Optional(Type.String()),
      href: Type.Optional(Type.String()),
      plugin: Type.String(),
    }),
  ),
  languages: Type.Array(Type.Object({ tag: Type.String(), title: Type.String() }), {
    description: 'Languages available in the console besides English',
  }),
});

/**
 * Returns the areas for a user; those with access to some devices are not offered what would refuse
 * them.
 */
function roomsFor({ selectors }: Principal, catalogue: DeclaredCatalogue): string[] {
  const routes =
    selectors === undefined
      ? catalogue.routes()
      : catalogue.declarations().filter(({ devices }) => devices !== undefined);
  return [...new Set(routes.map(({ pluginId }) => pluginId))].sort();
}

const address = (file: string): string => `/ui/assets/${file}`;

export const liveRoutes = (
  changes: Changes,
  catalogue: DeclaredCatalogue,
  {
    pages,
    cards,
    languages,
  }: {
    readonly pages: OpenPoint<ConsolePage>;
    readonly cards: OpenPoint<ConsoleCard>;
    readonly languages: Languages;
  },
): readonly RouteDeclaration[] => [
  eventRoute({
    method: 'GET',
    path: '/api/v1/console/live',
    access: 'any',
    devices: 'narrowed',
    summary: 'Stream the kinds of objects that have changed, as changes happen',
    description:
      'Starts with a `hello` event. A client that receives `hello` again has missed events and should refetch everything it shows.',
    handle: ({ principal, signal }) => changes.follow(principal, signal),
  }),
  route({
    method: 'GET',
    path: '/api/v1/console/extras',
    access: 'any',
    devices: 'none',
    summary: 'Get the pages, cards and languages that other plugins add to the console',
    response: Extras,
    handle: ({ principal }) => ({
      rooms: roomsFor(principal, catalogue),
      pages: pages.list().map(({ id, pluginId, value: { path, nav, module } }) => ({
        id,
        path,
        nav,
        plugin: pluginId,
        script: address(module.entry),
        ...(module.style !== undefined && { style: address(module.style) }),
      })),
      cards: cards.list().map(({ id, pluginId, value }) => ({ ...value, id, plugin: pluginId })),
      languages: [...languages.list()],
    }),
  }),
];
