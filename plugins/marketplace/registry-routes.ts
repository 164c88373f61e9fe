import { listRoute, pageOfList, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

import type { InstalledPacks } from './install/installed-packs.ts';
import type { Registries } from './registry/registries.ts';
import { NewRegistry, OfferShape, RegistryBody, RegistryName, RegistryShape } from './shapes.ts';
import { shownRegistry } from './shown.ts';

const Params = Type.Object({ name: RegistryName });
const readMs = 30_000;

/** Access for every person; nothing in it belongs to a device. */
const open = { access: 'any', devices: 'none' } as const;

export const registryRoutes = (
  registries: Registries,
  installed: InstalledPacks,
): readonly RouteDeclaration[] => [
  listRoute({
    path: '/api/v1/marketplace/registries',
    ...open,
    summary: 'List pack registries',
    items: RegistryShape,
    async handle({ page, principal }) {
      const rows = await registries.list();
      return pageOfList(
        rows.map((row) =>
          shownRegistry(row, registries.content(row), principal.grants.includes('*')),
        ),
        ({ name }) => name,
        page,
      );
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/marketplace/registries',
    access: 'admin',
    summary: 'Add a registry: an index, a Claude marketplace, or a folder on this machine',
    body: NewRegistry,
    response: RegistryShape,
    timeoutMs: readMs,
    errors: ['conflict', 'upstream_error'],
    async handle({ body: { name, url, public_key: key }, principal, note }) {
      const row = await registries.add({ name, address: url, key, by: principal.id });
      note({
        resourceType: 'registry',
        resourceId: name,
        after: { url, signed: key !== undefined },
      });
      return shownRegistry(row, registries.content(row), true);
    },
  }),
  haveRoute(registries),
  route({
    method: 'POST',
    path: '/api/v1/marketplace/registries/{name}/refresh',
    access: 'marketplace:manage',
    brief: ['name'],
    summary: 'Refresh a registry',
    params: Params,
    response: RegistryShape,
    status: 200,
    timeoutMs: readMs,
    errors: ['not_found'],
    async handle({ params, principal, note }) {
      const row = await registries.refresh(params.name);
      note({ resourceType: 'registry', resourceId: params.name, after: { error: row.error } });
      return shownRegistry(row, registries.content(row), principal.grants.includes('*'));
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/marketplace/registries/{name}',
    access: 'admin',
    summary: 'Delete a registry; packs installed from it are kept',
    params: Params,
    errors: ['not_found'],
    async handle({ params, note }) {
      await registries.remove(params.name);
      note({ resourceType: 'registry', resourceId: params.name });
    },
  }),
  searchRoute(registries, installed),
];

const searchRoute = (registries: Registries, installed: InstalledPacks): RouteDeclaration =>
  listRoute({
    path: '/api/v1/marketplace/search',
    ...open,
    summary: 'Search packs in all registries',
    query: Type.Object({
      q: Type.Optional(Type.String({ maxLength: 200 })),
      registry: Type.Optional(RegistryName),
    }),
    items: OfferShape,
    errors: ['not_found'],
    async handle({ query: { q = '', registry }, page }) {
      const keys = new Map(
        (await registries.list()).map(({ name, public_key: key }) => [name, key]),
      );
      const found = (await registries.search(q, registry)).map(({ registry: from, offer }) => ({
        registry: from,
        pack_id: offer.name,
        name: offer.title,
        description: offer.description,
        publisher: offer.publisher,
        homepage: offer.homepage,
        versions: offer.versions.map(({ version }) => version),
        signed: typeof keys.get(from) === 'string',
        installed:
          installed
            .list()
            .find(({ lock: { origin } }) => origin.from === from && origin.name === offer.name)
            ?.lock.version ?? null,
      }));
      return pageOfList(found, ({ registry: from, pack_id: id }) => `${from}/${id}`, page);
    },
  });

const haveRoute = (registries: Registries): RouteDeclaration =>
  route({
    method: 'PUT',
    path: '/api/v1/marketplace/registries/{name}',
    access: 'admin',
    summary: 'Apply a registry from a configuration file: address and key',
    params: Params,
    body: RegistryBody,
    response: RegistryShape,
    status: 200,
    timeoutMs: readMs,
    errors: ['conflict', 'upstream_error'],
    async handle({ params: { name }, body: { url, public_key: key }, principal, note }) {
      const row = await registries.have({
        name,
        address: url,
        key: key ?? undefined,
        by: principal.id,
      });
      note({ resourceType: 'registry', resourceId: name, after: { url, signed: key !== null } });
      return shownRegistry(row, registries.content(row), true);
    },
  });
