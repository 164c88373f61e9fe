import { type HealthProbe, listRoute, pageOfList, type RouteDeclaration } from 'svc/sdk';
import { Type } from 'typebox';

const Check = Type.Object({
  label: Type.String(),
  plugin: Type.Union([Type.String(), Type.Null()], { description: 'null: the core itself' }),
  state: Type.Enum(['ok', 'degraded', 'failing']),
  detail: Type.Union([Type.String(), Type.Null()]),
});

/**
 * Route of the health checks with what they found, for administrators: it may name paths and quote
 * files. `/readyz`, which strangers may ask, only names the checks that fail.
 */
export const healthRoute = (health: HealthProbe): RouteDeclaration =>
  listRoute({
    path: '/api/v1/health',
    access: 'admin',
    summary: 'List health checks with their findings',
    items: Check,
    async handle({ page }) {
      const { checks } = await health.check();
      return pageOfList(
        checks.map(({ label, plugin, ok, degraded, detail }) => ({
          label,
          plugin: plugin ?? null,
          state: !ok ? ('failing' as const) : degraded ? ('degraded' as const) : ('ok' as const),
          detail: detail ?? null,
        })),
        (item) => `${item.plugin ?? ''} ${item.label}`,
        page,
      );
    },
  });
