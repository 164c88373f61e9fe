import { definePack } from 'svc/sdk';

export default definePack({
  routes: {
    'GET /api/v1/plugin-id': ({ principal }) => ({ message: `Hello ${principal.kind}` }),
  },
});
