import type { Area } from '../area.ts';

export const area: Area = {
  routes: `
    GET  /api/v1/admin/audit-logs         admin
    GET  /api/v1/admin/audit-logs/export  admin
    GET  /api/v1/admin/audit-logs/sink    admin
    GET  /api/v1/admin/audit-logs/verify  admin
  `,
  houseWide: ['audit-logs'],
  fields: { resource_id: 'audit-logs' },
};
