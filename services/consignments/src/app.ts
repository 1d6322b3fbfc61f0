import { createHttpApp, type HttpApp } from '@platform/service-kit/app';
import { withinClients } from './clients.ts';
import { historyRoute } from './consignments/history.ts';
import { consignmentRoutes } from './consignments/record.ts';
import type { Context } from './context.ts';
import { importRoutes } from './import/routes.ts';
import { inventoryRoutes } from './inventory.ts';
import { partnerRoutes } from './partners.ts';
import { movementRoutes } from './stock/record.ts';
import { Left } from './stock/schema.ts';
import { warehouseRoutes } from './warehouses.ts';
import { problemCodes } from './problem-codes.ts';

/** The routes of the service and the header of its OpenAPI document. */
export const createApp = (context: Context): HttpApp =>
  createHttpApp(context, {
    api: {
      title: 'Consignments',
      version: '1.0.0',
      description: 'Consignments, partners, inventory and warehouses, in pages with exact totals.',
      tags: {
        Consignments: 'Shipments of clients and their status',
        Partners: 'Clients, carriers, suppliers and consignees',
        Inventory: 'Stock of products by partner and warehouse',
        Warehouses: 'Places where stock is kept',
        Subscriptions: 'Webhooks that send changes of lists',
      },
      codes: problemCodes,
      basePath: '/v1',
      problemMembers: { not_enough_stock: { left: Left } },
      examples: {
        unit: 'box',
        street: 'Sadama 5',
        changedBy: 'demo-admin',
        createdBy: 'demo-admin',
        'deleteConsignment.id': '0198c5a0-7e57-7000-8d00-0000000007cf',
        'deletePartner.id': '0198c5a0-7e57-7000-8a00-0000000000ff',
        'deleteInventoryItem.id': '0198c5a0-7e57-7000-8c00-0000000000ef',
        'deleteSubscription.id': '0198c5a0-7e57-7f00-8000-000000000002',
        'deleteWarehouse.id': '0198c5a0-7e57-7000-8b00-0000000000ff',
      },
    },
    routes: [
      ...[
        // Before /consignments/{id}, which would match its path.
        ...importRoutes(context),
        ...consignmentRoutes(context),
        historyRoute(context),
        ...partnerRoutes(context),
        ...inventoryRoutes(context),
        ...movementRoutes(context),
        ...warehouseRoutes(context),
      ].map(withinClients(context)),
      ...context.subscriptions.routes(),
    ],
  });
