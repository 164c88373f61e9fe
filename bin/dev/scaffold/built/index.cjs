const { definePack } = require('svc/sdk');

exports.default = definePack({
  routes: {
    'GET /api/v1/plugin-id': ({ principal }) => ({ message: `Hello ${principal.kind}` }),
  },
});
