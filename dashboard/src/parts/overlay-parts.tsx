import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { ConfirmName } from '../ui/confirm-name.tsx'
import { Drawer } from '../ui/drawer.tsx'
import { Field, TextInput } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Menu, MenuContent, MenuItem, MenuLabel, MenuLine, MenuTrigger } from '../ui/menu.tsx'
import { toast, toastError } from '../ui/toast.tsx'

export function OverlayParts() {
  const [opened, setOpened] = useState<'dialog' | 'confirm' | 'drawer'>()
  const close = () => setOpened(undefined)
  return (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => setOpened('dialog')}>Open dialog</Button>
      <Button onClick={() => setOpened('confirm')}>Open confirmation</Button>
      <Button onClick={() => setOpened('drawer')}>Open drawer</Button>
      <Button onClick={() => toast({ title: 'Deleted the tag Spring', undo: () => {} })}>Show toast</Button>
      <Button onClick={() => toastError(new Error('The name is taken.'))}>Show error</Button>
      <Menu>
        <MenuTrigger asChild>
          <Button>Open menu</Button>
        </MenuTrigger>
        <MenuContent>
          <MenuLabel>Link</MenuLabel>
          <MenuItem>Edit</MenuItem>
          <MenuItem disabled>Archive</MenuItem>
          <MenuLine />
          <MenuItem className="text-harm">Delete</MenuItem>
        </MenuContent>
      </Menu>
      {opened === 'dialog' && (
        <FormDialog
          title="Create tag"
          submit="Create tag"
          onSubmit={() => Promise.reject(new Error('The name is taken.'))}
          onClose={close}
        >
          <Field label="Name">
            <TextInput defaultValue="Spring" />
          </Field>
        </FormDialog>
      )}
      {opened === 'confirm' && (
        <ConfirmName
          title="Delete folder"
          action="Delete folder"
          name="Launch"
          isBusy={false}
          onConfirm={close}
          onClose={close}
        >
          <p>Its links stay.</p>
        </ConfirmName>
      )}
      {opened === 'drawer' && (
        <Drawer title="A drawer" onClose={close} footer={<Button onClick={close}>Done</Button>}>
          <Field label="Name">
            <TextInput />
          </Field>
        </Drawer>
      )}
    </div>
  )
}
