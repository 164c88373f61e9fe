import type { Draft } from '../registry/index.ts';
import { type RouteDeclaration, sdkVersion, type ServiceToken } from '../sdk/index.ts';
import { syntheticDraft } from './synthetic.ts';

/** One of core's own services, for plugins to require. */
export interface CoreService {
  readonly id: string;
  readonly instance: object;
}

export const coreService = <T extends object>(token: ServiceToken<T>, instance: T): CoreService => ({ id: token.id, instance });

/** What core itself offers, published like any plugin's: its few routes, and its services. */
export function coreDraft(services: readonly CoreService[], routes: ReadonlyMap<string, RouteDeclaration> = new Map()): Draft {
  const draft = syntheticDraft('core', 'Core', 1, { 'host:metrics': 'Read the metrics of svc itself.' });
  services.forEach(({ id, instance }) => draft.add('services', id, { version: sdkVersion, instance }));
  routes.forEach((declaration, key) => draft.add('routes', key, declaration));
  return draft.seal();
}
