import { byteRoute, listRoute, route, type RouteDeclaration } from 'svc/sdk';

import {
  EdgeId,
  PackageFile,
  UpgradeItem,
  UpgradePackageRequest,
  UpgradeRequest,
  UpgradeStarted,
} from '../record/schema.ts';
import { byteRangeOf } from './byte-range.ts';
import type { Packages } from './packages.ts';
import { packagePath, type Upgrades } from './upgrades.ts';

export const upgradeRoutes = (
  upgrades: Upgrades,
  packages: Packages,
): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/edges/{id}/upgrade',
    access: 'edge:upgrade',
    devices: 'narrowed',
    reads: 'none',
    summary:
      'Upgrade an agent from a URL; the edge verifies the package, tries it and, if needed, rolls back',
    params: EdgeId,
    body: UpgradeRequest,
    response: UpgradeStarted,
    status: 202,
    action: 'edge:upgrade',
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: (call) => upgrades.start(call, call.params.id, call.body),
  }),
  route({
    method: 'POST',
    path: '/api/v1/edges/{id}/upgrade-package',
    access: 'edge:upgrade',
    devices: 'narrowed',
    reads: 'none',
    summary: "Upgrade an agent from this manager's packages",
    params: EdgeId,
    body: UpgradePackageRequest,
    response: UpgradeStarted,
    status: 202,
    action: 'edge:upgrade',
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: (call) => upgrades.startPackage(call, call.params.id, call.body),
  }),
  listRoute({
    path: '/api/v1/edges/{id}/upgrades',
    access: 'any',
    devices: 'narrowed',
    summary: 'List the upgrades of an edge, newest first',
    params: EdgeId,
    items: UpgradeItem,
    errors: ['not_found'],
    handle: ({ params, page, principal }) => upgrades.list(principal, params.id, page),
  }),
  byteRoute({
    method: 'GET',
    path: `${packagePath}/{file}`,
    access: 'machine',
    summary: 'Download an agent package, whole or in part',
    params: PackageFile,
    produces: 'application/octet-stream',
    timeoutMs: 600_000,
    errors: ['not_found', 206],
    async handle(call) {
      const { sizeBytes, sha256, read } = await packages.open(call.params.file);
      const tag = `"${sha256}"`;
      const range = byteRangeOf(call.headers, sizeBytes, tag);
      call.setHeader('etag', tag);
      call.setHeader('accept-ranges', 'bytes');
      if (range) {
        call.setStatus(206);
        call.setHeader('content-range', `bytes ${range.first}-${range.last}/${sizeBytes}`);
      }
      return read(range);
    },
  }),
];
