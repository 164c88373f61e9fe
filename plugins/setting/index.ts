import { PackTraces } from 'svc/contracts/marketplace';
import { LaunchSources, SettingChanged } from 'svc/contracts/setting';
import { Board, definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { RevealAllowance } from './reveal-allowance.ts';
import { settingRoutes } from './setting-routes.ts';
import { type Launched, SystemSettings } from './settings.ts';
import { settingStore, type SettingTables } from './store.ts';
import { StoredValues } from './stored-values.ts';
import { valueText } from './value-text.ts';

export default definePlugin({
  errors,
  async activate(ctx) {
    const { clock, log, scope } = ctx;
    const board = ctx.services.use(Board);
    const store = settingStore(ctx.db<SettingTables>());
    const text = valueText(ctx.secrets);
    const stored = new StoredValues({ board, store, text, log });
    const changed = (key: string): void => ctx.events.emit(SettingChanged, { key });
    const allowance = new RevealAllowance(clock);
    const sources = ctx.extend.open(LaunchSources);
    const launched: Launched = (state) =>
      sources
        .gather(({ id, value }) => (id === state.key ? value.over(state) : undefined))
        .find((launch) => launch !== undefined);

    await stored.refresh();
    scope.defer(
      'apply stored values for new keys',
      board.onDeclared(() => stored.apply()),
    );

    ctx.extend.contribute(PackTraces, 'setting', {
      async forget({ packId, keepData }) {
        if (!keepData) {
          await store.write((rows) => rows.removeAll(packId));
          await stored.refresh();
        }
      },
    });
    ctx.http.routes(
      settingRoutes(
        new SystemSettings({ board, store, stored, launched, text, clock, allowance, changed }),
      ),
    );
  },
});
