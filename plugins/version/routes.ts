import { type Build, route, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

const ManagerVersion = Type.Object({ manager_version: Type.String({ pattern: '^v\\d+\\.\\d+\\.\\d+', description: 'vX.Y.Z; edges compare theirs with it' }) });

export const versionRoute = (build: Build): RouteDeclaration =>
  route({
    method: 'GET',
    path: '/api/v1/version',
    access: 'any',
    summary: 'Version of the manager',
    response: ManagerVersion,
    handle: () => ({ manager_version: `v${build.version}` }),
  });
