export { coreRoutes, type CorePorts, type Readiness } from './core-routes.ts';
export { checkRoute, routeKey } from './declaration.ts';
export type { ErrorBody } from './error-reply.ts';
export { openApi } from './openapi.ts';
export * from './ports.ts';
export { createHttpServer, type HttpServer } from './server.ts';
