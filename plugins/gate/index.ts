import { Ceilings, Gate as GateToken } from 'svc/contracts/gate';
import { Directory } from 'svc/contracts/iam';
import { definePlugin } from 'svc/sdk';

import { errors } from './errors.ts';
import { Gate } from './gate.ts';
import { PackCeilings } from './pack-ceilings.ts';

export default definePlugin({
  errors,
  activate({ services, settings, extend }) {
    const directory = services.use(Directory);
    const packs = new PackCeilings(extend.open(Ceilings));
    services.provide(GateToken, () => new Gate({ directory, settings, packs }));
  },
});
