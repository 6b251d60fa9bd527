from . import Device as Device, Explanation as Explanation, devices as devices, explain as explain
