import type { Draft } from '../registry/index.ts';
import {
  Board,
  BuildInfo,
  type Build,
  Catalogue,
  type HouseCatalogue,
  type DropInDirectory,
  DropIns,
  Health,
  type HouseHealth,
  Keys,
  type MasterKeys,
  type PluginDirectory,
  Plugins,
  type RouteDeclaration,
  Self,
  type SelfObservation,
  type ServiceToken,
  type SettingsBoard,
} from '../sdk/index.ts';
import { routeKey } from '../http/index.ts';
import { syntheticDraft } from './synthetic.ts';

export interface CoreParts {
  readonly routes: readonly RouteDeclaration[];
  readonly plugins: PluginDirectory;
  readonly dropIns: DropInDirectory;
  readonly settings: SettingsBoard;
  readonly keys: MasterKeys;
  readonly catalogue: HouseCatalogue;
  readonly build: Build;
  readonly health: HouseHealth;
  readonly self: SelfObservation;
}

/** What core itself offers, published like any plugin's: its few routes, and its services for plugins to require. */
export function coreDraft(parts: CoreParts): Draft {
  const draft = syntheticDraft('core', 'Core', 1, { 'host:metrics': 'Read the metrics of svc itself.' });
  const provide = <T extends object>(token: ServiceToken<T>, instance: T): void => draft.add('services', token.id, { version: '1.0.0', instance });
  provide(Plugins, parts.plugins);
  provide(DropIns, parts.dropIns);
  provide(Board, parts.settings);
  provide(Keys, parts.keys);
  provide(Catalogue, parts.catalogue);
  provide(BuildInfo, parts.build);
  provide(Health, parts.health);
  provide(Self, parts.self);
  parts.routes.forEach((declaration) => draft.add('routes', routeKey(declaration), declaration));
  return draft.seal();
}
