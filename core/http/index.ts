export { coreRoutes, type Readiness } from './core-routes.ts';
export { checkRoute, routeKey } from './routes/declaration.ts';
export { httpErrors } from './errors.ts';
export { catalogueOf } from './routes/catalogue.ts';
export * from './exchange/ports.ts';
export { HttpServer } from './server/server.ts';
