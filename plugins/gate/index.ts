import { definePlugin } from 'svc/sdk';

import { Directory } from '../iam/contract.ts';
import { Ceilings, Gate as GateToken } from './contract.ts';
import { Gate } from './gate.ts';
import { PackCeilings } from './pack-ceilings.ts';

export default definePlugin({
  activate({ services, settings, extend }) {
    const directory = services.use(Directory);
    const packs = new PackCeilings(extend.open(Ceilings));
    services.provide(GateToken, () => new Gate({ directory, settings, packs }));
  },
});
