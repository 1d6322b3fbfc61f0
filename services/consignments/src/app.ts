import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { consignmentRoutes } from './consignments/routes.ts';
import type { Context } from './context.ts';
import { importRoute } from './import/routes.ts';
import { inventoryRoutes } from './inventory/routes.ts';
import { partnerRoutes } from './partners/routes.ts';
import { warehouseRoutes } from './warehouses/routes.ts';

/** The rooms of the service and what its OpenAPI document says of them. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    about: {
      title: 'Consignments',
      version: '1.0.0',
      description: 'Consignments, partners, inventory and warehouses, in pages with exact totals.',
      tags: {
        Consignments: 'What is sent, for whom and how far it is',
        Partners: 'Clients, carriers, suppliers and consignees',
        Inventory: 'What lies where, and whose it is',
        Warehouses: 'Where things lie',
      },
      basePath: '/v1',
    },
    routes: [
      // Before /consignments/{id}, which would take its path.
      importRoute(context),
      ...consignmentRoutes(context),
      ...partnerRoutes(context),
      ...inventoryRoutes(context),
      ...warehouseRoutes(context),
    ],
  });
